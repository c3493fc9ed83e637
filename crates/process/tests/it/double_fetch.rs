//! What another process writes after an operator has got its operands is not seen by the operator.
//!
//! A second mapping of a team's memory stands for a process that writes where it should not.

use crate::common::plans_of;
use bytemuck::{cast_slice, cast_slice_mut};
use corecast_collectives::operator::by_slice;
use corecast_collectives::{Algorithms, Combine, allreduce, combine::On, reduce_scatter, scan};
use corecast_plan::Pattern;
use corecast_process::ProcessGroup;
use corecast_team::{Failure, Member, Options};
use corecast_wire::{Segment, WORDS, Words};
use std::cell::RefCell;
use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Elements of each rank's data: long enough to be lent, and short enough to go through a bounce buffer.
const ELEMENTS: usize = 4 * 1024;

/// What the ranks give.
const GIVEN: u64 = 0x5EED_5EED_0000_0001;

/// What the second mapping writes over all that it finds of that.
const OTHER: u64 = 0xBAD_BAD;

thread_local! {
    /// The addresses of this rank's own data, if they lie in symmetric memory.
    static OWN: RefCell<Range<usize>> = const { RefCell::new(0..0) };
}

/// Runs `operation` on both ranks of a team of two parts, with an operator that writes over the whole memory of the
/// team while it has its operands. Returns how many words it wrote, and how many of them the operands then showed: not
/// counting a rank's own data in symmetric memory, which it has put there itself.
fn overwrite(
    options: &Options,
    operation: impl Fn(&mut Member, &mut [u64], &dyn Combine) -> Result<(), Failure> + Sync,
) -> (usize, usize) {
    let plans = plans_of(2, Pattern::Binomial);
    let fd = ProcessGroup::found(&plans, options).unwrap();
    let second = Segment::attach_with_spare(fd.as_fd()).unwrap();
    let symmetric = options.symmetric > 0;
    let lines = second
        .at::<Words>(0, second.bytes() / size_of::<Words>())
        .unwrap();
    let [calls, written, seen] = [const { AtomicUsize::new(0) }; 3];
    let operator = by_slice(|into: &mut [u64], with: &[u64]| {
        // Reading all of the memory takes milliseconds.
        if calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(7) {
            let before = (into.to_vec(), with.to_vec());
            for line in lines.iter() {
                // A plain loop, because tests are not optimised.
                let mut word = 0;
                while word < WORDS {
                    if line.get(word) == GIVEN {
                        line.set(word, OTHER);
                        written.fetch_add(1, Ordering::Relaxed);
                    }
                    word += 1;
                }
            }
            // The compiler would be right to take the slices for unchanged.
            let (into, with) = std::hint::black_box((&*into, with));
            let changed = |now: &[u64], before: &[u64]| {
                let pairs = now.iter().zip(before);
                pairs.filter(|(now, before)| now != before).count()
            };
            let changed = [(into, &before.0), (with, &before.1)].map(|(now, before)| {
                let is_own = OWN.with_borrow(|own| own.contains(&now.as_ptr().addr()));
                if is_own { 0 } else { changed(now, before) }
            });
            let changed: usize = changed.iter().sum();
            seen.fetch_add(changed, Ordering::Relaxed);
        }
    });
    let operator = On::new(&operator);
    std::thread::scope(|scope| {
        for rank in 0..2 {
            let (fd, operator, operation) = (fd.as_fd(), &operator, &operation);
            scope.spawn(move || {
                let team = ProcessGroup::attach(fd, &[rank], options).unwrap();
                let mut member = team.join(rank).unwrap();
                let mut own = vec![GIVEN; ELEMENTS];
                let mut shared = symmetric.then(|| member.alloc::<u64>(ELEMENTS).unwrap());
                let data = shared.as_deref_mut().unwrap_or(&mut own);
                data.fill(GIVEN);
                if symmetric {
                    let start = data.as_ptr().addr();
                    OWN.set(start..start + size_of_val(data));
                }
                operation(&mut member, data, &operator).unwrap();
                member.barrier().unwrap();
            });
        }
    });
    (written.into_inner(), seen.into_inner())
}

#[test]
fn no_operator_sees_what_is_written_later() {
    let mut plans: Vec<(String, Algorithms)> = vec![("chosen".into(), Algorithms::default())];
    for &algorithm in allreduce::Algorithm::ALL {
        let mut asked = Algorithms::default();
        asked.allreduce = algorithm.into();
        plans.push((format!("allreduce {algorithm:?}"), asked));
    }
    for &algorithm in scan::Algorithm::ALL {
        let mut asked = Algorithms::default();
        asked.scan = algorithm.into();
        plans.push((format!("scan {algorithm:?}"), asked));
    }
    for &algorithm in reduce_scatter::Algorithm::ALL {
        let mut asked = Algorithms::default();
        asked.reduce_scatter = algorithm.into();
        plans.push((format!("reduce_scatter {algorithm:?}"), asked));
    }
    let mut all = 0;
    for (name, algorithms) in plans {
        for (deterministic, symmetric) in [(false, 0), (false, 1 << 16), (true, 0), (true, 1 << 16)]
            .into_iter()
            .take(if name == "chosen" { 4 } else { 2 })
        {
            let options = Options {
                algorithms,
                deterministic,
                symmetric,
                ..Options::default()
            };
            let (written, seen) = overwrite(&options, |member, data, operator| {
                member.reduce_by(0, cast_slice_mut(data), operator)?;
                data.fill(GIVEN);
                member.allreduce_by(cast_slice_mut(data), operator)?;
                data.fill(GIVEN);
                member.scan_by(cast_slice_mut(data), operator)?;
                data.fill(GIVEN);
                let mut part = vec![0_u64; data.len() / 2];
                let (data, part) = (cast_slice(data), cast_slice_mut(&mut part));
                member.reduce_scatter_by(data, part, operator)
            });
            assert_eq!(
                seen, 0,
                "{name}, {symmetric}: operands changed, {written} words were written"
            );
            all += written;
        }
    }
    assert!(all > 0, "no operand was in memory that is shared");
}
