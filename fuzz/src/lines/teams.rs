//! A rank of a team whose other ranks are another process, which writes what it likes.
//!
//! What honest ranks have written for a program is recorded once. A case writes that into the memory of a new team,
//! with changes, and then one rank runs the program alone: so it finds most of what it waits for, and gets far.

use super::memory::{word, write};
use arbitrary::{Result, Unstructured};
use corecast_collectives::{
    Algorithms, BarrierPlan, Plans, allgather, allreduce, alltoall, barrier, broadcast, reduce,
    scan,
};
use corecast_model::synthetic;
use corecast_plan::Pattern;
use corecast_plan::groups::Grouped;
use corecast_process::ProcessGroup;
use corecast_team::{Failure, Member, Options};
use corecast_wire::sync::{AtomicU32, Ordering};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// After how long a rank gives up.
const PATIENCE: Duration = Duration::from_micros(300);

/// A team and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Program {
    size: usize,
    pattern: usize,
    /// An algorithm of each operation, or what the team chooses.
    algorithm: Option<usize>,
    operations: [Operation; 2],
    /// Elements of its data.
    elements: usize,
    recorded: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Operation {
    Barrier,
    Broadcast,
    Reduce,
    Allreduce,
    Allgather,
    Alltoall,
    Scan,
    InFlight,
}

const OPERATIONS: [Operation; 8] = [
    Operation::Barrier,
    Operation::Broadcast,
    Operation::Reduce,
    Operation::Allreduce,
    Operation::Allgather,
    Operation::Alltoall,
    Operation::Scan,
    Operation::InFlight,
];

/// What the honest ranks of a program have written: the places of words, and these.
type Written = Arc<Vec<(u64, u64)>>;

impl Program {
    fn of(u: &mut Unstructured) -> Result<Self> {
        Ok(Self {
            size: u.int_in_range(2..=3)?,
            pattern: u.int_in_range(0..=3)?,
            algorithm: u
                .arbitrary::<bool>()?
                .then(|| u.int_in_range(0..=7))
                .transpose()?,
            operations: [*u.choose(&OPERATIONS)?, *u.choose(&OPERATIONS)?],
            // In one message, in several, and lent.
            elements: *u.choose(&[1, 40, 6000])?,
            recorded: u.ratio(1, 4)?,
        })
    }

    fn plans(self) -> Plans {
        let machine = synthetic(&format!("core:{}", self.size)).expect("a valid machine");
        let of = |pattern| Plans::of_pattern(machine.costs(), pattern, None);
        let plans = of([Pattern::Binomial, Pattern::Smelt][self.pattern % 2]).expect("valid plans");
        let flat = Grouped::flat(self.size, 0);
        let plans = match self.pattern {
            0 | 1 => Ok(plans),
            2 => plans.with_barrier(BarrierPlan::Counter(self.size)),
            _ => {
                let (fan_in, fan_out) = (flat.clone(), flat.clone());
                plans.with_barrier(BarrierPlan::Groups { fan_in, fan_out })
            }
        };
        let plans = plans.expect("valid plans");
        match self.pattern {
            0 | 1 => plans,
            _ => plans.with_broadcast_groups(flat).expect("valid plans"),
        }
    }

    fn options(self) -> Options {
        let mut algorithms = Algorithms::default();
        if let Some(number) = self.algorithm {
            fn one<T: Copy>(all: &[T], number: usize) -> T {
                all[number % all.len()]
            }
            algorithms.barrier = Some(one(barrier::Algorithm::ALL, number).into());
            algorithms.broadcast = one(broadcast::Algorithm::ALL, number).into();
            algorithms.reduce = one(reduce::Algorithm::ALL, number).into();
            algorithms.allreduce = one(allreduce::Algorithm::ALL, number).into();
            algorithms.allgather = one(allgather::Algorithm::ALL, number).into();
            algorithms.alltoall = one(alltoall::Algorithm::ALL, number).into();
            algorithms.scan = one(scan::Algorithm::ALL, number).into();
        }
        Options {
            algorithms,
            slots: Some(8),
            depth: 1,
            patience: Some(PATIENCE),
            record: self.recorded,
            // Addresses cost time where addresses are checked.
            symmetric: 1 << 16,
            ..Options::default()
        }
    }

    fn run(self, member: &mut Member) -> std::result::Result<(), Failure> {
        let mut data = vec![member.rank() as u64 + 1; self.elements];
        let mut all = vec![0; self.elements * self.size];
        let sum = |a, b| u64::wrapping_add(a, b);
        for operation in self.operations {
            match operation {
                Operation::Barrier => member.barrier()?,
                Operation::Broadcast => member.broadcast(0, &mut data)?,
                Operation::Reduce => member.reduce(0, &mut data, sum)?,
                Operation::Allreduce => member.allreduce(&mut data, sum)?,
                Operation::Allgather => member.allgather(&data, &mut all)?,
                Operation::Alltoall => member.alltoall(&all.clone(), &mut all)?,
                Operation::Scan => member.scan(&mut data, sum)?,
                Operation::InFlight => {
                    let ended = member.overlap(|overlap| {
                        let first = overlap.allreduce(&mut data, &sum)?;
                        let second = overlap.barrier()?;
                        first.wait()?;
                        second.wait()
                    });
                    ended.expect("there is memory for stacks")?;
                }
            }
        }
        Ok(())
    }

    fn found(self) -> OwnedFd {
        ProcessGroup::found(&self.plans(), &self.options()).expect("there is memory")
    }

    /// What the ranks write when all of them are honest.
    fn written(self) -> Written {
        static KNOWN: Mutex<BTreeMap<Program, Written>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(written) = known.get(&self) {
            return Arc::clone(written);
        }
        let fd = self.found();
        let memory = File::from(fd.try_clone().expect("a descriptor is left"));
        let ranks: Vec<usize> = (0..self.size).collect();
        let team = ProcessGroup::attach(&fd, &ranks, &self.options()).expect("a team");
        let before = contents(&memory);
        // On a busy machine ranks give up: what they have written until then does as well.
        let _ = team.run(|member| self.run(member));
        let after = contents(&memory);
        let words = before
            .as_chunks()
            .0
            .iter()
            .zip(after.as_chunks().0)
            .enumerate();
        let changed = words.filter(|(_, (before, after))| before != after);
        let written = changed.map(|(at, (_, after))| (8 * at as u64, u64::from_ne_bytes(*after)));
        let written = Written::new(written.collect());
        known.insert(self, Arc::clone(&written));
        written
    }
}

fn contents(memory: &File) -> Vec<u8> {
    let len = memory.metadata().expect("a file").len() as usize;
    let mut bytes = vec![0; len];
    memory.read_exact_at(&mut bytes, 0).expect("a file");
    bytes
}

pub(super) fn run(u: &mut Unstructured) -> Result<()> {
    let program = Program::of(u)?;
    let written = program.written();
    let fd = program.found();
    let memory = File::from(fd.try_clone().expect("a descriptor is left"));
    let ranks: Vec<usize> = (0..program.size).collect();
    let team = ProcessGroup::attach(fd.as_fd(), &ranks, &program.options()).expect("a team");
    let mut members: Vec<Member> = ranks
        .iter()
        .map(|&rank| team.join(rank).expect("a rank that nobody has"))
        .collect();
    for &(place, word) in &*written {
        write(&memory, place, word);
    }
    let words = memory.metadata().expect("a file").len() / 8;
    let mut changes = Vec::new();
    for _ in 0..u.int_in_range(0..=12)? {
        // What honest ranks write as well, or any word behind the header.
        let (place, before) = match u.ratio(1, 8)? || written.is_empty() {
            true => (8 * u.int_in_range(64 * 1024 / 8..=words - 1)?, 0),
            false => written[u.choose_index(written.len())?],
        };
        let after = match u.int_in_range(0..=2)? {
            0 => word(u)?,
            1 => before ^ 1 << u.int_in_range(0..=63)?,
            _ => before.wrapping_add(u.int_in_range(0..=8)?).wrapping_sub(4),
        };
        write(&memory, place, after);
        changes.push((place, before, after));
    }
    let rank = u.choose_index(program.size)?;
    let (restless, ended) = (u.ratio(1, 4)?, AtomicU32::new(0));
    std::thread::scope(|scope| {
        if restless {
            scope.spawn(|| {
                // Relaxed: it publishes nothing.
                while ended.load(Ordering::Relaxed) == 0 {
                    for &(place, before, after) in &changes {
                        write(&memory, place, before);
                        write(&memory, place, after);
                    }
                    std::thread::yield_now();
                }
            });
        }
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            program.run(&mut members[rank])
        }));
        ended.store(1, Ordering::Relaxed);
        match result {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => assert!(!failure.to_string().is_empty()),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    drop(members);
    let _ = (
        team.failure().map(|failure| failure.to_string()),
        team.progress(0),
    );
    Ok(())
}
