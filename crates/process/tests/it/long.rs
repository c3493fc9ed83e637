//! Long data, lent where they lie: random programs on the same buffers again and again, and ranks that end while
//! others read their data. Useful under sanitizers, too.

use crate::common::plans_of;
use crate::own_process::WATCHDOG;
use corecast_collectives::operator::Sum;
use corecast_collectives::{Plans, broadcast};
use corecast_plan::Pattern;
use corecast_process::ProcessGroup;
use corecast_team::{Failure, Loss, Member, Options, Team};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

fn team(n: usize, rng: &mut fastrand::Rng) -> Team {
    let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    let names = ["smelt", "chain", "sequential", "binomial"];
    let pattern: Pattern = names[rng.usize(..names.len())].parse().unwrap();
    let plans = Plans::of_pattern(machine.costs(), pattern, None).unwrap();
    let options = Options {
        deterministic: rng.bool(),
        ..Options::default()
    };
    Team::with_options(plans, &options).unwrap()
}

/// Runs `body` in a thread; the test fails instead of hanging.
fn watched<T: Send + 'static>(context: String, body: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, ended) = mpsc::channel();
    let thread = std::thread::spawn(move || done.send(body()).unwrap());
    let ended = ended.recv_timeout(WATCHDOG);
    let ended = ended.unwrap_or_else(|why| panic!("{context}: no end: {why}"));
    thread.join().unwrap();
    ended
}

fn given(rank: usize, step: usize, len: usize) -> impl Iterator<Item = u64> {
    let first = (rank as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ step as u64;
    (0..len as u64).map(move |i| first.wrapping_add(i))
}

/// Runs one operation on the first elements of `data`, and checks its result. All ranks draw the same operation.
fn step(member: &mut Member, step: usize, data: &mut [u64], rng: &mut fastrand::Rng) {
    let (n, rank) = (member.size(), member.rank());
    let (kind, root) = (rng.u32(..3), rng.usize(..n));
    let most = [64, 600, 5000, data.len()][rng.usize(..4)];
    let len = rng.usize(..=most);
    let data = &mut data[..len];
    data.iter_mut()
        .zip(given(rank, step, len))
        .for_each(|(to, from)| *to = from);
    let sum = |i: usize| {
        let firsts = (0..n).map(|rank| given(rank, step, 1).sum::<u64>());
        let first = firsts.fold(0, u64::wrapping_add);
        first.wrapping_add((i * n) as u64)
    };
    let as_expected = match kind {
        0 => {
            member.broadcast(root, data).unwrap();
            data.iter().copied().eq(given(root, step, len))
        }
        1 => {
            member.reduce(root, data, Sum).unwrap();
            match rank == root {
                true => data.iter().copied().eq((0..len).map(sum)),
                false => data.iter().copied().eq(given(rank, step, len)),
            }
        }
        _ => {
            member.allreduce(data, Sum).unwrap();
            data.iter().copied().eq((0..len).map(sum))
        }
    };
    assert!(as_expected, "step {step}: {kind}, root {root}, {len} long");
}

#[test]
fn random_programs_agree_with_the_reference() {
    for seed in 0..40 {
        let context = format!("seed {seed}");
        watched(context, move || {
            let mut rng = fastrand::Rng::with_seed(seed);
            let team = team(rng.usize(2..6), &mut rng);
            team.run(|member| {
                let mut rng = fastrand::Rng::with_seed(seed);
                let mut delays = fastrand::Rng::with_seed(seed ^ member.rank() as u64);
                let mut data = vec![0; 20_000];
                for number in 0..25 {
                    for _ in 0..delays.u32(..4) {
                        std::thread::yield_now();
                    }
                    step(member, number, &mut data, &mut rng);
                }
            });
        });
    }
}

/// An operator panics while the others' data are lent. They drop their data as soon as they know: no rank may read
/// them then, and all others fail.
#[test]
fn an_operator_that_panics_takes_nobody_along() {
    for seed in 0..60u64 {
        let context = format!("seed {seed}");
        watched(context.clone(), move || {
            let mut rng = fastrand::Rng::with_seed(seed);
            let n = rng.usize(2..6);
            let (team, culprit) = (team(n, &mut rng), rng.usize(..n));
            let (calls, all) = (rng.usize(..40_000), rng.bool());
            let ran = catch_unwind(AssertUnwindSafe(|| {
                team.run(|member| {
                    let rank = member.rank();
                    let mut data: Vec<u64> = given(rank, 0, 60_000).collect();
                    let left = std::cell::Cell::new(calls);
                    let operator = |a: u64, b: u64| {
                        if rank == culprit {
                            assert_ne!(left.get(), 0, "seeded panic");
                            left.set(left.get() - 1);
                        }
                        a.wrapping_add(b)
                    };
                    let done = match all {
                        true => member.allreduce(&mut data, operator),
                        false => member.reduce(culprit, &mut data, operator),
                    };
                    drop(data);
                    // The culprit may have had too little to combine to panic in the operator.
                    assert_ne!(rank, culprit, "seeded panic");
                    let done = done.and_then(|()| member.barrier());
                    let Err(Failure::PeerLost { remote, how, .. }) = done else {
                        panic!("{done:?}");
                    };
                    assert_eq!((remote.rank, how), (culprit, Loss::Panicked));
                })
            }));
            let why = ran.unwrap_err();
            let why = why.downcast_ref::<String>().unwrap();
            assert!(why.contains("seeded panic"), "{context}: {why}");
        });
    }
}

/// One of two borrowers leaves before it takes what a third rank lends to both through its bounce buffer. The others are
/// told, also a lender that waits for the borrower that stays, which has nothing to take until both have taken the rest.
#[test]
fn a_borrower_that_leaves_holds_nobody_up_for_ever() {
    for (len, leaver) in [8_000, 30_000, 100_000]
        .into_iter()
        .flat_map(|len| [(len, 1), (len, 2)])
    {
        let context = format!("{len} bytes, rank {leaver} leaves");
        let said = context.clone();
        watched(context, move || {
            let plans = plans_of(3, Pattern::Sequential);
            let mut options = Options::default();
            options.algorithms.broadcast = Some(broadcast::Algorithm::Whole).into();
            let fd = ProcessGroup::found(&plans, &options).unwrap();
            let play = &|rank| {
                let team = ProcessGroup::attach(&fd, &[rank], &options).unwrap();
                let mut member = team.join(rank).unwrap();
                member.barrier().unwrap();
                match rank == leaver {
                    true => None,
                    false => Some(loop {
                        if let Err(failure) = member.broadcast(0, &mut vec![1_u8; len]) {
                            break failure;
                        }
                    }),
                }
            };
            let ends = std::thread::scope(|scope| {
                let ranks = [0, 1, 2].map(|rank| scope.spawn(move || play(rank)));
                ranks.map(|rank| rank.join().unwrap())
            });
            let told: Vec<Failure> = ends.into_iter().flatten().collect();
            let words: Vec<String> = told.iter().map(Failure::to_string).collect();
            assert_eq!((words.len(), &words[0]), (2, &words[1]), "{said}");
            let Failure::PeerLost { remote, how, .. } = &told[0] else {
                panic!("{said}: {}", told[0]);
            };
            assert_eq!((remote.rank, *how), (leaver, Loss::Left), "{said}");
        });
    }
}
