//! Operations in flight: random programs of them, waited for in any order or not at all, with results checked.

use crate::common::plans_of;
use crate::own_process::{WATCHDOG, eventually};
use corecast_collectives::operator::{Ordered, Sum};
use corecast_collectives::{Parts, Plans};
use corecast_plan::Pattern;
use corecast_team::{Failure, Loss, Member, Options, OverlapError, Request, Team};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

fn team(n: usize, depth: usize) -> Team {
    team_with(
        n,
        Options {
            depth,
            ..Options::default()
        },
    )
}

fn team_with(n: usize, options: Options) -> Team {
    let plans = plans_of(n, Pattern::Binomial);
    Team::with_options(plans, &options).unwrap()
}

/// Runs `body` in a thread; the test fails instead of hanging.
pub(crate) fn in_time<R: Send + 'static>(
    what: String,
    body: impl FnOnce() -> R + Send + 'static,
) -> R {
    let (done, ended) = mpsc::channel();
    let thread = std::thread::spawn(move || done.send(body()).unwrap());
    match ended.recv_timeout(WATCHDOG) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: no end"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(thread.join().unwrap_err())
        }
    }
}

/// The data of `rank` in operation `op`, of `len` elements.
fn given(rank: usize, op: usize, len: usize) -> Vec<u64> {
    (0..len).map(|i| (rank * 31 + op * 7 + i) as u64).collect()
}

const LENGTHS: [usize; 6] = [0, 1, 7, 56, 57, 9000];

/// One program: `count` operations in flight, waited for in an order of this rank's own.
fn program(member: &mut Member, seed: u64, count: usize) {
    let (n, me) = (member.size(), member.rank());
    // The operations are drawn from a seed of all members, the ways of waiting from a seed of each member.
    let mut what = fastrand::Rng::with_seed(seed);
    let mut how = fastrand::Rng::with_seed(seed * 1000 + me as u64);
    let program: Vec<(u8, usize, usize)> = (0..count)
        .map(|_| {
            (
                what.u8(0..4),
                what.usize(0..n),
                LENGTHS[what.usize(0..LENGTHS.len())],
            )
        })
        .collect();
    let mut data: Vec<Vec<u64>> = program
        .iter()
        .enumerate()
        .map(|(op, &(_, _, len))| given(me, op, len))
        .collect();
    member
        .overlap(|flight| {
            let mut requests: Vec<Request> = Vec::new();
            for (&(kind, root, _), data) in program.iter().zip(&mut data) {
                let request = match kind {
                    0 => flight.barrier(),
                    1 => flight.broadcast(root, data),
                    2 => flight.reduce(root, data, &Sum),
                    _ => flight.allreduce(data, &Sum),
                };
                requests.push(request.unwrap());
                match how.u8(0..6) {
                    0 => {
                        let some = how.usize(0..requests.len());
                        requests.swap_remove(some).wait().unwrap();
                    }
                    1 => {
                        let some = how.usize(0..requests.len());
                        requests[some].test().unwrap();
                    }
                    2 => drop(requests.pop()),
                    3 => std::thread::yield_now(),
                    _ => {}
                }
            }
        })
        .unwrap();
    let sum = |op, len| {
        let mut sum = vec![0; len];
        for rank in 0..n {
            sum.iter_mut()
                .zip(given(rank, op, len))
                .for_each(|(s, v)| *s += v);
        }
        sum
    };
    for (op, (&(kind, root, len), data)) in program.iter().zip(&data).enumerate() {
        let expected = match kind {
            1 => given(root, op, len),
            2 if me == root => sum(op, len),
            3 => sum(op, len),
            _ => given(me, op, len),
        };
        assert_eq!(
            *data, expected,
            "seed {seed}, operation {op}, rank {me} of {n}"
        );
    }
}

#[test]
fn random_programs_give_what_blocking_ones_do() {
    for seed in 0..60 {
        let n = 1 + seed as usize % 5;
        let depth = 1 + seed as usize % 7;
        in_time(format!("seed {seed}"), move || {
            team(n, depth).run(|member| {
                for part in 0..3 {
                    program(member, seed * 10 + part, 25);
                    member.barrier().unwrap();
                    let sum = member.allreduce_value(1usize, |a, b| a + b);
                    assert_eq!(sum, Ok(n));
                }
            })
        });
    }
}

#[test]
fn members_wait_in_opposite_orders() {
    in_time("opposite orders".into(), || {
        team(2, 4).run(|member| {
            let mut data = [
                vec![member.rank() as u64; 20_000],
                vec![member.rank() as u64; 20_000],
            ];
            let [a, b] = &mut data;
            let first = member.rank();
            member
                .overlap(|flight| {
                    let mut requests = vec![
                        flight.broadcast(0, a).unwrap(),
                        flight.broadcast(1, b).unwrap(),
                    ];
                    requests.remove(first).wait().unwrap();
                    requests.remove(0).wait().unwrap();
                })
                .unwrap();
            assert!(data[0].iter().all(|&x| x == 0) && data[1].iter().all(|&x| x == 1));
        })
    });
}

#[test]
fn operators_keep_the_order_of_ranks_in_flight() {
    in_time("ordered".into(), || {
        let results = team(5, 2).run(|member| {
            let mut digits = [member.rank() as u64 + 1];
            let append = Ordered(|a: u64, b: u64| a * 10u64.pow(b.ilog10() + 1) + b);
            let requested = member.overlap(|flight| flight.allreduce(&mut digits, &append)?.wait());
            requested.unwrap().unwrap();
            digits[0]
        });
        assert_eq!(results, [12345; 5]);
    });
}

#[test]
fn different_operations_in_flight_are_told() {
    for n in [2, 4] {
        let results = in_time(format!("{n} ranks"), move || {
            team(n, 4).run(|member| -> Result<(), Failure> {
                let rank = member.rank();
                let mut word = [1u64];
                let flown = member.overlap(|flight| match rank {
                    1 => flight.allreduce(&mut word, &Sum)?.wait(),
                    _ => flight.barrier()?.wait(),
                });
                flown.unwrap()?;
                member.barrier()
            })
        });
        let failures: Vec<Failure> = results.into_iter().filter_map(Result::err).collect();
        assert!(failures.len() >= n - 1, "{failures:?}");
        for failure in failures {
            let said = failure.to_string();
            assert!(matches!(failure, Failure::Mismatch { .. }), "{said}");
            assert_eq!(said.matches("overlap.rs:").count(), 2, "{said}");
        }
    }
}

#[test]
fn a_blocking_operation_does_not_match_one_in_flight() {
    let results = in_time("mixed".into(), || {
        team(2, 2).run(|member| match member.rank() {
            0 => member.barrier(),
            _ => member.overlap(|flight| flight.barrier()?.wait()).unwrap(),
        })
    });
    assert!(
        results
            .iter()
            .all(|r| matches!(r, Err(Failure::Mismatch { .. }))),
        "{results:?}"
    );
}

#[test]
fn whoever_panics_in_flight_is_lost_to_the_others() {
    let result = in_time("panic".into(), || {
        let team = team(3, 2);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            team.run(|member| {
                let rank = member.rank();
                let mut data = vec![0u64; 50_000];
                let flown = member.overlap(|flight| {
                    let request = flight.allreduce(&mut data, &Sum)?;
                    assert_ne!(rank, 1, "on purpose");
                    // The rank that panics may have done its part of this operation, but not of the next.
                    request.wait()?;
                    flight.barrier()?.wait()
                });
                let flown = flown.unwrap();
                assert!(matches!(flown, Err(Failure::PeerLost { .. })), "{flown:?}");
            })
        }));
        (ended.is_err(), team.failure())
    });
    assert!(
        result.0 && matches!(result.1, Some(Failure::PeerLost { .. })),
        "{result:?}"
    );
}

/// Polls a request until it has ended.
fn poll(request: &Request<'_, '_, '_>) -> Result<(), Failure> {
    while !request.test()? {
        std::thread::yield_now();
    }
    Ok(())
}

#[test]
fn whoever_only_polls_is_told_that_another_one_has_left() {
    let results = in_time("polls".into(), || {
        team(3, 2).run(|member| {
            if member.rank() == 1 {
                return Ok(());
            }
            let mut data = [1u64; 4];
            let flown = member.overlap(|flight| poll(&flight.allreduce(&mut data, &Sum)?));
            flown.unwrap()
        })
    });
    for rank in [0, 2] {
        let failure = results[rank].clone().unwrap_err();
        let Failure::PeerLost { remote, how, .. } = failure else {
            panic!("{failure}");
        };
        assert_eq!((remote.rank, how), (1, Loss::Left));
    }
}

#[test]
fn whoever_only_polls_is_told_that_another_one_cancels_or_does_something_else() {
    let results = in_time("cancelled".into(), || {
        team(2, 2).run(|member| match member.rank() {
            0 => member
                .overlap(|flight| poll(&flight.barrier()?))
                .unwrap()
                .unwrap_err(),
            _ => {
                member.cancel();
                member.barrier().unwrap_err()
            }
        })
    });
    let cancelled = [0, 1].map(|rank| Failure::Cancelled { rank });
    assert_eq!(results, cancelled);
    let results = in_time("something else".into(), || {
        team(2, 2).run(|member| match member.rank() {
            0 => member
                .overlap(|flight| poll(&flight.barrier()?))
                .unwrap()
                .unwrap_err(),
            _ => member.barrier().unwrap_err(),
        })
    });
    assert!(matches!(results[0], Failure::Mismatch { .. }) && results[0] == results[1]);
}

/// A limit counts from the first poll after the last progress.
#[test]
fn whoever_only_polls_is_told_that_another_one_is_late() {
    const PATIENCE: Duration = Duration::from_millis(50);
    let results = in_time("late".into(), || {
        let options = Options {
            patience: Some(PATIENCE),
            ..Options::default()
        };
        let late = std::sync::Barrier::new(2);
        team_with(2, options).run(|member| {
            if member.rank() == 1 {
                late.wait();
                return member.barrier();
            }
            let flown = member.overlap(|flight| poll(&flight.barrier()?)).unwrap();
            late.wait();
            flown
        })
    });
    let failure = results[0].clone().unwrap_err();
    let Failure::Stalled { remote, waited, .. } = failure else {
        panic!("{failure}");
    };
    assert!(remote.rank == 1 && waited >= PATIENCE, "{waited:?}");
}

/// Whoever computes between two polls has not waited for as long.
#[test]
fn whoever_computes_between_polls_is_not_told_that_another_one_is_late() {
    const PATIENCE: Duration = Duration::from_millis(200);
    let results = in_time("computes".into(), || {
        let options = Options {
            patience: Some(PATIENCE),
            ..Options::default()
        };
        let late = std::sync::Barrier::new(2);
        team_with(2, options).run(|member| {
            let flown = member.overlap(|flight| {
                if flight.rank() == 1 {
                    late.wait();
                    // It may be too late by now.
                    let _ = flight.barrier().and_then(Request::wait);
                    return Vec::new();
                }
                let request = flight.barrier().unwrap();
                let tested = (0..4).map(|_| {
                    std::thread::sleep(PATIENCE);
                    request.test()
                });
                let tested = tested.collect();
                late.wait();
                tested
            });
            flown.unwrap()
        })
    });
    assert_eq!(results[0], [Ok(false), Ok(false), Ok(false), Ok(false)]);
}

fn catch<R>(body: impl FnOnce() -> R) -> std::thread::Result<R> {
    catch_unwind(AssertUnwindSafe(body))
}

/// The operator of one rank panics. The body catches that, and goes on as if nothing had been.
fn catches(member: &mut Member, panics: usize, tests: bool) -> [Result<(), Failure>; 2] {
    let rank = member.rank();
    let mut data = [1u64; 4];
    let add = move |a: u64, b: u64| match rank == panics {
        true => panic!("operator, on purpose"),
        false => a + b,
    };
    let (data, add) = (&mut data[..], &add);
    let flown = member.overlap(move |flight| {
        // The operator may run in this call already.
        let started = catch(move || flight.allreduce(data, add));
        let Ok(request) = started else {
            return flight.barrier()?.wait();
        };
        let request = request?;
        while tests && matches!(catch(|| request.test()), Ok(Ok(false))) {
            std::thread::yield_now();
        }
        match catch(|| request.wait()) {
            Ok(waited) => waited,
            Err(_) => flight.barrier()?.wait(),
        }
    });
    [flown.unwrap(), member.barrier()]
}

#[test]
fn an_operator_that_panics_in_flight_fails_all_even_if_the_body_catches_it() {
    for n in [2, 3] {
        for panics in 0..n {
            for tests in [false, true] {
                let what = format!("rank {panics} of {n} panics, polls: {tests}");
                let results = in_time(what.clone(), move || {
                    team(n, 2).run(|member| {
                        // So that some have to wait before they combine.
                        if member.rank() != panics {
                            std::thread::sleep(Duration::from_millis(20));
                        }
                        catches(member, panics, tests)
                    })
                });
                // A rank that combines nothing does not panic. Others may have ended the operation before.
                let panicked = results[panics][0].is_err();
                let told = results
                    .iter()
                    .filter(|[_, barrier]| barrier.is_err())
                    .count();
                assert_eq!(told, if panicked { n } else { 0 }, "{what}: {results:?}");
                assert!(panicked || panics > 0, "{what}: {results:?}");
                for failure in results.into_iter().flatten().filter_map(Result::err) {
                    let said = failure.to_string();
                    let Failure::PeerLost { remote, how, .. } = failure else {
                        panic!("{what}: {said}");
                    };
                    assert_eq!((remote.rank, how), (panics, Loss::Panicked), "{said}");
                    assert!(said.contains("allreduce in flight"), "{said}");
                    assert!(said.contains("overlap.rs:"), "{said}");
                }
            }
        }
    }
}

/// A body that panics may have left anything undone, so the others are told, also where no operation was in flight.
#[test]
fn whoever_panics_in_a_body_is_lost_even_if_the_member_catches_it() {
    let losses = in_time("caught".into(), || {
        let team = team(2, 2);
        team.run(|member| {
            if member.rank() == 0 {
                return None;
            }
            let flown = catch(|| member.overlap(|_| -> () { panic!("body, on purpose") }));
            assert!(flown.is_err());
            team.progress(1).lost
        })
    });
    assert_eq!(losses, [None, Some(Loss::Panicked)]);
}

/// Rank 2 has another length, for which rank 1 would pass the data on. That one has its data over a line, and waits for rank 2
/// in the next operation.
#[test]
fn whoever_waits_for_one_that_has_ended_the_operation_is_told() {
    let results = in_time("ended".into(), || {
        let mut options = Options::default();
        let ways = [(64, Some("line")), (usize::MAX, Some("messages"))];
        let published = AtomicBool::new(false);
        options.algorithms.ask("broadcast", &ways).unwrap();
        let machine = corecast_model::synthetic("core:3").unwrap();
        let plans = Plans::of_pattern(machine.costs(), Pattern::Chain, Some(0)).unwrap();
        Team::with_options(plans, &options).unwrap().run(|member| {
            let mut data = [7u64; 20];
            let len = if member.rank() == 2 { 20 } else { 1 };
            // Who does not wait for long does not say how many bytes it has.
            if member.rank() == 1 {
                eventually("published", || published.load(Ordering::Acquire));
            }
            let flown = member.overlap(|flight| {
                flight.broadcast(0, &mut data[..len])?.wait()?;
                published.store(true, Ordering::Release);
                flight.barrier()?.wait()
            });
            flown.unwrap()
        })
    });
    let failure = results[2].clone().unwrap_err();
    let Failure::Mismatch { local, remote } = &failure else {
        panic!("{failure}");
    };
    assert_eq!((local.rank, remote.rank), (2, 1), "{failure}");
    assert_eq!(results, [(); 3].map(|()| Err(failure.clone())));
}

/// A root outside of the team is refused before the operation counts, as for blocking operations.
#[test]
fn a_root_that_is_refused_in_flight_changes_nothing() {
    for refused_by in 0..2 {
        in_time(format!("rank {refused_by}"), move || {
            team(2, 3).run(|member| {
                let rank = member.rank();
                let mut words = [[rank as u64 + 1]; 4];
                let [bad, a, b, c] = words.each_mut().map(|word| &mut word[..]);
                let flown = member.overlap(move |flight| {
                    let first = flight.broadcast(0, a)?;
                    if rank == refused_by {
                        let refused = catch(move || drop(flight.broadcast(7, bad)));
                        let said = *refused.unwrap_err().downcast::<String>().unwrap();
                        assert!(said.starts_with("root 7 is outside"), "{said}");
                    }
                    let second = flight.broadcast(1, b)?;
                    let third = flight.allreduce(c, &Sum)?;
                    first.wait()?;
                    second.wait()?;
                    third.wait()
                });
                flown.unwrap().unwrap();
                member.barrier().unwrap();
                assert_eq!(words[1..], [[1], [2], [3]]);
            })
        });
    }
}

/// What is found to be wrong when the operation has begun fails all, in words that name the call.
#[test]
fn a_length_that_is_refused_in_flight_fails_all() {
    let results = in_time("lengths".into(), || {
        team(3, 2).run(|member| {
            let rank = member.rank();
            let (send, mut recv) = ([rank as u64; 2], [0; 6]);
            let recv = &mut recv[..if rank == 1 { 5 } else { 6 }];
            let send = &send[..];
            let flown = member.overlap(move |flight| {
                match catch(move || flight.allgather(send, recv)?.wait()) {
                    Ok(waited) => waited,
                    Err(_) => flight.barrier()?.wait(),
                }
            });
            flown.unwrap()
        })
    });
    for result in results {
        let said = result.unwrap_err().to_string();
        assert!(
            said.starts_with("rank 1 panicked (last: rank 1: allgather in flight"),
            "{said}"
        );
    }
}

#[test]
fn the_scope_of_a_flight_knows_its_team() {
    let told = team(3, 2).run(|member| {
        let told = member.overlap(|flight| [flight.size(), flight.rank(), flight.depth()]);
        told.unwrap()
    });
    assert_eq!(told, [[3, 0, 2], [3, 1, 2], [3, 2, 2]]);
}

#[test]
fn depth_zero_is_an_error_that_says_so() {
    team(1, 0).run(|member| {
        let error = member.overlap(|_| ()).unwrap_err();
        assert!(matches!(error, OverlapError::NoDepth), "{error}");
    });
}

/// Stacks that no machine has room for: a later call has the contexts that the first one could not use.
#[test]
fn stacks_that_cannot_be_made_are_an_error_each_time() {
    let options = Options {
        stack_bytes: 1 << 56,
        ..Options::default()
    };
    team_with(1, options).run(|member| {
        for _ in 0..2 {
            let error = member.overlap(|_| ()).unwrap_err();
            assert!(matches!(error, OverlapError::Stacks { .. }), "{error}");
        }
    });
}

/// Each operation twice, blocking and in flight, on the same data.
#[test]
fn every_form_in_flight_gives_what_the_blocking_one_does() {
    for (n, len) in [(1, 3), (2, 0), (2, 700), (3, 1), (4, 5000), (5, 57)] {
        in_time(format!("{n} ranks, {len} elements"), move || {
            team(n, 3).run(|member| twice(member, len));
        });
    }
}

fn twice(member: &mut Member, len: usize) {
    let (n, me) = (member.size(), member.rank());
    let root = n - 1;
    let is_root = me == root;
    let (mine, all) = (given(me, 1, len), given(me, 2, n * len));
    // Parts of 0, 1, … elements, with a gap of one between them.
    let counts: Vec<usize> = (0..n).collect();
    let starts: Vec<usize> = (0..n).map(|r| r * (r + 1) / 2).collect();
    let room = n * (n + 1) / 2;
    let whole = given(0, 3, room);
    let parts = Parts::new(&counts, &starts);
    // Between two ranks as many elements are sent as the lower rank's number.
    let sent: Vec<usize> = (0..n).map(|r| r.min(me)).collect();
    let sent_at: Vec<usize> = (0..n).map(|r| sent[..r].iter().sum()).collect();
    let pairs = Parts::new(&sent, &sent_at);
    let pairs_len: usize = sent.iter().sum();
    let block = (me + 1) * n * len / n - me * n * len / n;
    let fresh = |len: usize| vec![0u64; len];

    let mut one = [
        fresh(len),
        fresh(me),
        fresh(n * len),
        fresh(room),
        fresh(n * len),
        fresh(room),
        fresh(n * len),
        fresh(pairs_len),
        fresh(block),
        fresh(me),
        mine.clone(),
        mine.clone(),
    ];
    let mut two = one.clone();
    {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = &mut one;
        member.scatter(root, is_root.then_some(&all), a).unwrap();
        member
            .scatterv(root, is_root.then_some((&whole[..], parts)), b)
            .unwrap();
        member.gather(root, &mine, is_root.then_some(c)).unwrap();
        member
            .gatherv(root, &whole[..me], is_root.then_some((&mut d[..], parts)))
            .unwrap();
        member.allgather(&mine, e).unwrap();
        member.allgatherv(&whole[..me], f, parts).unwrap();
        member.alltoall(&all, g).unwrap();
        member
            .alltoallv((&all_pairs(me, pairs_len), pairs), (h, pairs))
            .unwrap();
        member.reduce_scatter(&all, i, Sum).unwrap();
        member
            .reduce_scatterv(&whole[..n * (n - 1) / 2], &counts, j, Sum)
            .unwrap();
        member.scan(k, Sum).unwrap();
        member.exscan(l, Sum).unwrap();
    }
    let given_pairs = all_pairs(me, pairs_len);
    let [a, b, c, d, e, f, g, h, i, j, k, l] = &mut two;
    let flown = member.overlap(|flight| -> Result<(), Failure> {
        let requests = [
            flight.scatter(root, is_root.then_some(&all), a)?,
            flight.scatterv(root, is_root.then_some((&whole[..], parts)), b)?,
            flight.gather(root, &mine, is_root.then_some(c))?,
            flight.gatherv(root, &whole[..me], is_root.then_some((&mut d[..], parts)))?,
            flight.allgather(&mine, e)?,
            flight.allgatherv(&whole[..me], f, parts)?,
            flight.alltoall(&all, g)?,
            flight.alltoallv((&given_pairs, pairs), (h, pairs))?,
            flight.reduce_scatter(&all, i, &Sum)?,
            flight.reduce_scatterv(&whole[..n * (n - 1) / 2], &counts, j, &Sum)?,
            flight.scan(k, &Sum)?,
            flight.exscan(l, &Sum)?,
        ];
        requests.into_iter().rev().try_for_each(Request::wait)
    });
    flown.unwrap().unwrap();
    assert_eq!(one, two, "rank {me} of {n}, {len} elements");
    assert!(n == 1 || len == 0 || one[4] != fresh(n * len));
}

fn all_pairs(me: usize, len: usize) -> Vec<u64> {
    given(me, 4, len)
}
