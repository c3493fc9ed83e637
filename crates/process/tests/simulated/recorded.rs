//! Recorded calls in virtual time: who comes late is what the others wait for, by what each operation means.

use super::random::Random;
use super::scheduler::sim;
use super::state::Tempo;
use corecast_collectives::{Collective, Plans};
use corecast_plan::Pattern;
use corecast_process::ProcessGroup;
use corecast_team::{CallKind, Failure, Member, Options, Recording, SiteCalls, Team};
use corecast_wire::arch::cycles;
use corecast_wire::sync::sleep;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// How late the late rank is.
const LATE: Duration = Duration::from_millis(20);
const LATE_NS: u64 = LATE.as_nanos() as u64;
/// All that a call takes besides.
const SHORT_NS: u64 = LATE_NS / 4;

/// A call as its rank sees it from outside: the operation, and the times right before and after.
#[derive(Clone, Copy, Debug)]
struct Seen {
    rank: usize,
    kind: Collective,
    root: usize,
    /// Whether the late rank came late.
    is_late: bool,
    before: u64,
    after: u64,
}

/// Runs the case of a seed. Returns what is wrong.
pub(crate) fn run(seed: u64) -> Result<(), String> {
    let random = Random::new(&[seed, 50]);
    let n = random.between(1..6) as usize;
    let late = random.index(n);
    let processes = random.pick(&[1, n]);
    let patterns = ["binomial", "dissemination:2", "sequential", "smelt"];
    let pattern: Pattern = random.pick(&patterns).parse().expect("a pattern");
    let machine = corecast_model::synthetic(&format!("core:{n}")).expect("a machine");
    let plans = Plans::of_pattern(machine.costs(), pattern, None).expect("plans");
    let options = Options {
        record: true,
        parallelism: Some(random.pick(&[1, 8])),
        ..Options::default()
    };
    let descriptor = (processes > 1 || random.once_in(2))
        .then(|| Rc::new(ProcessGroup::found(&plans, &options).expect("a segment")));
    // Tasks hold little.
    let asked = Rc::new((plans, options));
    let tempo = Tempo {
        accesses: random.pick(&[1, 2, 8]),
        spurious: random.pick(&[0, 100]),
        long: 0,
        slow: None,
    };
    sim().begin(seed, processes, tempo);
    let seen: Rc<RefCell<Vec<Seen>>> = Rc::default();
    let recordings: Rc<RefCell<Vec<Arc<Recording>>>> = Rc::default();
    for process in 0..processes {
        let ranks: Vec<usize> = match processes {
            1 => (0..n).collect(),
            _ => vec![process],
        };
        let (asked, descriptor) = (Rc::clone(&asked), descriptor.clone());
        let (seen, recordings) = (Rc::clone(&seen), Rc::clone(&recordings));
        sim().spawn(process, move || {
            let team = Rc::new(match descriptor {
                None => Team::with_options(asked.0.clone(), &asked.1).expect("a team"),
                // What this process asks for does not count.
                Some(fd) => {
                    ProcessGroup::attach(&*fd, &ranks, &Options::default()).expect("a team")
                }
            });
            recordings.borrow_mut().extend(team.recording().cloned());
            for rank in ranks {
                let (team, seen) = (Rc::clone(&team), Rc::clone(&seen));
                sim().spawn(process, move || {
                    let mut member = team.join(rank).expect("a member");
                    let mut own = Vec::new();
                    play(&mut member, late, &mut own).expect("no failure");
                    drop(member);
                    seen.borrow_mut().append(&mut own);
                });
            }
        });
    }
    if let (Err(stuck), _) = sim().run() {
        return Err(format!("{stuck:?}"));
    }
    let mut calls = Vec::new();
    for recording in recordings.borrow().iter() {
        calls.append(&mut recording.calls());
    }
    let seen = seen.borrow();
    judge(n, late, &seen, &calls).map_err(|what| format!("{n} ranks, rank {late} late: {what}"))
}

/// Operations with the late rank in each role, on time and late.
fn play(member: &mut Member, late: usize, seen: &mut Vec<Seen>) -> Result<(), Failure> {
    let (n, rank) = (member.size(), member.rank());
    let next = (late + 1) % n;
    let mut all = vec![0u64; n];
    let add = |a: u64, b: u64| a + b;
    macro_rules! timed {
        ($is_late:expr, $kind:ident, $root:expr, $call:expr) => {{
            // Before a call that is seen, all have ended what was before.
            member.barrier()?;
            if $is_late && rank == late {
                sleep(LATE);
            }
            let before = cycles();
            let ended = $call;
            let after = cycles();
            ended?;
            seen.push(Seen {
                rank,
                kind: Collective::$kind,
                root: $root,
                is_late: $is_late,
                before,
                after,
            });
        }};
    }
    timed!(false, Barrier, 0, member.barrier());
    timed!(true, Barrier, 0, member.barrier());
    timed!(false, Allreduce, 0, member.allreduce_value(1, add));
    timed!(true, Allreduce, 0, member.allreduce_value(1, add));
    timed!(true, Broadcast, late, member.broadcast_value(late, 1u64));
    timed!(true, Reduce, next, member.reduce_value(next, 1, add));
    timed!(true, Scan, 0, member.scan(&mut all[..1], add));
    timed!(true, Allgather, 0, member.allgather(&[1], &mut all));
    timed!(false, Gather, 0, {
        let recv = (rank == 0).then_some(&mut all[..]);
        member.gather(0, &[1], recv)
    });
    Ok(())
}

/// The operations that [`play`] sees.
const SEEN: usize = 9;

/// Compares what was recorded with what was seen. Returns what is wrong.
fn judge(n: usize, late: usize, seen: &[Seen], calls: &[SiteCalls]) -> Result<(), String> {
    let of_rank = |rank: usize| -> Vec<SiteCalls> {
        calls.iter().filter(|at| at.rank == rank).copied().collect()
    };
    for step in 0..SEEN {
        let first = |rank: usize| seen.iter().filter(move |seen| seen.rank == rank).nth(step);
        let all: Vec<Seen> = (0..n).filter_map(first).copied().collect();
        let mut least = u64::MAX;
        for seen in &all {
            let of_rank = of_rank(seen.rank);
            if all.len() != n || of_rank.len() != 2 * SEEN {
                return Err(format!("{} sites, {} calls seen", of_rank.len(), all.len()));
            }
            // In the order of places there is a barrier before each call that is seen.
            let found = of_rank[2 * step + 1];
            let sums = found.sums;
            let wrong = |what: &str| Err(format!("{what}: {found:?}, {all:?}"));
            if found.kind != CallKind::Operation(seen.kind) || (sums.calls, sums.unsplit) != (1, 0)
            {
                return wrong("another call, or not split");
            }
            if sums.time() != sums.longest || sums.time() > seen.after - seen.before {
                return wrong("longer than it was");
            }
            let awaits = |other: usize| match seen.kind {
                Collective::Broadcast => seen.rank != seen.root && other == seen.root,
                Collective::Reduce | Collective::Gather => seen.rank == seen.root,
                Collective::Scan => other < seen.rank,
                _ => true,
            };
            let awaited = all.iter().filter(|other| awaits(other.rank));
            let last = awaited.map(|other| other.before).max().unwrap_or(0);
            if sums.mechanism > seen.after - last.max(seen.before) {
                return wrong("the mechanism began before the last one came");
            }
            let waits = seen.is_late && seen.rank != late && awaits(late);
            if waits && sums.imbalance < LATE_NS - SHORT_NS {
                return wrong("nobody was waited for");
            }
            if !waits && sums.imbalance > SHORT_NS {
                return wrong("somebody was waited for");
            }
            least = least.min(sums.imbalance);
        }
        if least > 0 {
            return Err(format!("nobody came last: {all:?}"));
        }
    }
    Ok(())
}
