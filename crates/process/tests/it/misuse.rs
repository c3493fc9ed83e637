//! Wrong use is an error that names both call sites on all ranks concerned, and never a hang: each case runs under
//! a watchdog.

#[path = "../../../wire/tests/it/asleep.rs"]
mod asleep;

use crate::common::{plans_of, two_processes};
use crate::own_process::{WATCHDOG, eventually, watched};
use asleep::{Number, Sleeper};
use corecast_collectives::{Collective, Parts, Plans};
use corecast_plan::{Pattern, Tree};
use corecast_process::ProcessGroup;
use corecast_team::{DEPTH_MAX, Failure, JoinError, Loss, Member, Options, Team};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

fn team_of(n: usize, pattern: Pattern, options: &Options) -> Team {
    let plans = plans_of(n, pattern);
    Team::with_options(plans, options).unwrap()
}

/// Runs `body` as a team of `n`; the test fails instead of hanging.
fn run(
    n: usize,
    pattern: Pattern,
    body: fn(&mut Member) -> Result<(), Failure>,
) -> Vec<Result<(), Failure>> {
    watched(&format!("{pattern}, {n} ranks"), move || {
        team_of(n, pattern, &Options::default()).run(body)
    })
}

fn patterns() -> [Pattern; 4] {
    ["sequential", "chain", "binomial", "dissemination:2"].map(|name| name.parse().unwrap())
}

/// Asserts that at least one rank fails, that all failures are equal, and that they name two sites in this file.
#[track_caller]
fn both_sites_named(results: &[Result<(), Failure>], context: &str) -> Failure {
    let failures: Vec<&Failure> = results.iter().filter_map(|r| r.as_ref().err()).collect();
    let Some(&first) = failures.first() else {
        panic!("{context}: nobody noticed");
    };
    assert!(
        failures.iter().all(|&failure| failure == first),
        "{context}: {failures:?}"
    );
    let said = first.to_string();
    assert_eq!(said.matches("misuse.rs:").count(), 2, "{context}: {said}");
    assert!(!said.contains('\n'), "{said}");
    first.clone()
}

#[test]
fn two_different_operations_met() {
    for pattern in patterns() {
        for n in [2, 3, 5] {
            let results = run(n, pattern, |member| {
                if member.rank() == 1 {
                    member.allreduce_value(1u8, |a, b| a + b).map(drop)?;
                } else {
                    member.barrier()?;
                }
                member.barrier()
            });
            let failure = both_sites_named(&results, &format!("{pattern}, {n} ranks"));
            assert!(matches!(failure, Failure::Mismatch { .. }), "{failure:?}");
            assert!(results.iter().all(Result::is_err), "{results:?}");
        }
    }
}

/// A message of another operation, where a loan is expected, is no data of this one.
#[test]
fn a_message_of_another_operation_is_no_wrong_length() {
    for pattern in patterns() {
        let results = run(2, pattern, |member| match member.rank() {
            0 => member.broadcast(1, &mut vec![0u32; 10_000]),
            _ => {
                member.reduce_value(0, 1u8, |a, b| a + b)?;
                member.barrier()
            }
        });
        let failure = both_sites_named(&results, "a message");
        assert!(matches!(failure, Failure::Mismatch { .. }), "{failure:?}");
    }
}

/// Both members wait for each other and neither has sent anything: a deadlock that no message can reveal.
#[test]
fn two_members_wait_for_each_other_in_different_operations() {
    let results = run(2, Pattern::Sequential, |member| {
        if member.rank() == 0 {
            member.reduce_value(0, 1u8, |a, b| a + b).map(drop)
        } else {
            member.broadcast_value(0, 1u8).map(drop)
        }
    });
    let failure = both_sites_named(&results, "reduce against broadcast");
    let Failure::Mismatch { local, remote } = failure else {
        panic!("{failure:?}");
    };
    let mut kinds = [local, remote].map(|activity| activity.operation.unwrap().kind.to_string());
    kinds.sort();
    assert_eq!(
        kinds,
        [
            Collective::Broadcast.to_string(),
            Collective::Reduce.to_string()
        ]
    );
}

#[test]
fn different_roots_are_noticed() {
    let results = run(3, Pattern::Chain, |member| {
        let root = if member.rank() == 2 { 2 } else { 0 };
        member.broadcast_value(root, 7u64)?;
        member.barrier()
    });
    both_sites_named(&results, "roots");
}

/// No rank waits for anything afterwards, so the mismatch is noticed only at the end.
#[test]
fn different_roots_are_noticed_at_the_end() {
    let team = team_of(2, Pattern::Chain, &Options::default());
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        team.run(|member| member.broadcast_value(member.rank(), 7u64));
    }));
    let said = *caught.unwrap_err().downcast::<String>().unwrap();
    assert_eq!(said.matches("misuse.rs:").count(), 2, "{said}");
    assert!(said.contains("broadcast from rank 0") && said.contains("broadcast from rank 1"));
}

#[test]
fn different_lengths_are_noticed() {
    for pattern in patterns() {
        let results = run(3, pattern, |member| {
            let mut data = vec![0u32; 3 + member.rank() % 2];
            member.broadcast(0, &mut data)?;
            member.barrier()
        });
        let failure = both_sites_named(&results, "lengths");
        let Failure::Length { sent, expected, .. } = failure else {
            panic!("{failure:?}");
        };
        // Where both wait for long, the other one may notice it.
        assert!([(12, 16), (16, 12)].contains(&(sent, expected)));
    }
}

/// Data of one length go in messages, those of the other are lent: both sides would wait for each other.
#[test]
fn a_short_and_a_long_one_are_noticed() {
    for pattern in patterns() {
        let results = run(3, pattern, |member| {
            let mut data = vec![0u32; if member.rank() == 0 { 10_000 } else { 3 }];
            member.broadcast(0, &mut data)
        });
        let failure = both_sites_named(&results, "more than expected");
        let Failure::Length { sent, expected, .. } = failure else {
            panic!("{failure:?}");
        };
        // The root sends a pipeline segment, or a published message where ranks share cores.
        assert!(
            [32 * 1024, 16 * 1024].contains(&sent) && expected == 12,
            "{failure:?}"
        );
        let results = run(3, pattern, |member| {
            let mut data = vec![0u32; if member.rank() == 0 { 3 } else { 10_000 }];
            member.broadcast(0, &mut data)?;
            member.barrier()
        });
        both_sites_named(&results, "less than expected");
        let results = run(2, pattern, |member| {
            let mut data = vec![0u32; 10 + 10_000 * member.rank()];
            member.allreduce(&mut data, |a, b| a + b)
        });
        both_sites_named(&results, "allreduce");
    }
}

/// Short data lie beside flags, longer ones in messages: ranks that disagree wait at different places.
#[test]
fn lengths_of_swaps_are_noticed() {
    let operations = [
        odd_one_out::<1, 2>(),
        odd_one_out::<1, 3>(),
        odd_one_out::<2, 4>(),
        odd_one_out::<4, 1>(),
        odd_one_out::<100, 2>(),
        odd_one_out::<3, 10_000>(),
    ];
    for (at, operation) in operations.iter().flatten().enumerate() {
        for n in [2, 4] {
            let results = run(n, Pattern::Sequential, *operation);
            let failure = both_sites_named(&results, "swap");
            assert!(
                matches!(failure, Failure::Length { .. }),
                "{n} ranks, operation {at}: {failure:?}"
            );
        }
    }
}

type Body = fn(&mut Member) -> Result<(), Failure>;

/// Operations of `USUAL` elements, but of `ODD` ones on rank 1.
fn odd_one_out<const USUAL: usize, const ODD: usize>() -> [Body; 3] {
    fn len<const USUAL: usize, const ODD: usize>(member: &Member) -> usize {
        if member.rank() == 1 { ODD } else { USUAL }
    }
    [
        |member| {
            let mut data = vec![0u64; len::<USUAL, ODD>(member)];
            member.allreduce(&mut data, |a, b| a + b)?;
            member.barrier()
        },
        |member| {
            let mine = vec![0u64; len::<USUAL, ODD>(member)];
            let mut all = vec![0u64; mine.len() * member.size()];
            member.allgather(&mine, &mut all)?;
            member.barrier()
        },
        |member| {
            let mine = vec![0u64; len::<USUAL, ODD>(member) * member.size()];
            member.alltoall(&mine, &mut mine.clone())?;
            member.barrier()
        },
    ]
}

/// Each rank sends a message and waits for a loan: all are wrong, and none could ever go on.
#[test]
fn a_circle_of_ranks_that_are_all_wrong_is_noticed() {
    for n in [2, 3, 5] {
        let results = run(n, Pattern::Sequential, all_wrong);
        let failure = both_sites_named(&results, "circle");
        let Failure::Length { sent, expected, .. } = failure else {
            panic!("{failure:?}");
        };
        assert_eq!((sent, expected), (4, 40_000));
    }
}

fn all_wrong(member: &mut Member) -> Result<(), Failure> {
    const LONG: usize = 10_000;
    let n = member.size();
    let displacements: Vec<usize> = (0..n).map(|rank| rank * LONG).collect();
    let own = |rank| if rank == member.rank() { 1 } else { LONG };
    let (give, take) = (vec![1; n], (0..n).map(own).collect::<Vec<_>>());
    let send = vec![0u32; n * LONG];
    let mut recv = vec![0u32; n * LONG];
    let give = Parts::new(&give, &displacements);
    let take = Parts::new(&take, &displacements);
    member.alltoallv((&send, give), (&mut recv, take))
}

/// Between processes a message can overtake a loan, so it is an error only when its sender has rested since.
#[test]
fn a_circle_of_processes_that_are_all_wrong_is_noticed() {
    let results = watched("a circle", || two_processes(all_wrong));
    for result in &results {
        let Err(Failure::Length { sent, expected, .. }) = result else {
            panic!("{results:?}");
        };
        assert_eq!((*sent, *expected), (4, 40_000));
    }
}

#[test]
fn parts_of_other_lengths_are_noticed() {
    for len in [5, 5_000] {
        let patterns = patterns().into_iter();
        for pattern in patterns {
            let body: fn(&mut Member) -> Result<(), Failure> = match len {
                5 => |member| wrong_part(member, 5),
                _ => |member| wrong_part(member, 5_000),
            };
            let failure = both_sites_named(&run(3, pattern, body), "parts");
            let Failure::Length { sent, expected, .. } = failure else {
                panic!("{failure:?}");
            };
            assert_eq!((sent, expected), (4 * len, 4 * len + 4));
        }
    }
}

/// Rank 2 wants one element more than it gets.
fn wrong_part(member: &mut Member, len: usize) -> Result<(), Failure> {
    let (rank, all) = (member.rank(), vec![1u32; 3 * len]);
    let (counts, places) = ([len; 3], [0, len, 2 * len]);
    let send = (rank == 0).then_some((&all[..], Parts::new(&counts, &places)));
    let mut mine = vec![0; len + usize::from(rank == 2)];
    member.scatterv(0, send, &mut mine)?;
    member.barrier()
}

#[test]
fn one_operation_too_many_is_noticed() {
    for pattern in patterns() {
        let results = run(4, pattern, |member| {
            member.barrier()?;
            if member.rank() == 3 {
                member.barrier()?;
            }
            Ok(())
        });
        let failure = both_sites_named(&results, "one too many");
        let Failure::PeerLost {
            how: Loss::Left, ..
        } = failure
        else {
            panic!("{failure:?}");
        };
    }
}

#[test]
fn a_rank_joined_twice_is_an_error_with_both_sites() {
    let team = team_of(2, Pattern::Binary, &Options::default());
    let _first = team.join(1).unwrap();
    let error = team.join(1).unwrap_err();
    let JoinError::Taken {
        rank: 1,
        first,
        second,
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(second.line(), first.line() + 1);
    assert_eq!(error.to_string().matches("misuse.rs:").count(), 2);
    let error = team.join(2).unwrap_err();
    assert_eq!(
        error.to_string(),
        "rank 2 is outside of the team, whose ranks are 0 to 1"
    );
}

#[test]
fn running_a_team_that_was_joined_is_a_panic_with_both_sites() {
    let team = team_of(2, Pattern::Binary, &Options::default());
    let _first = team.join(1).unwrap();
    let run = std::panic::AssertUnwindSafe(|| team.run(|member| member.barrier()));
    let said = *std::panic::catch_unwind(run)
        .unwrap_err()
        .downcast::<String>()
        .unwrap();
    assert_eq!(said.matches("misuse.rs:").count(), 2, "{said}");
}

/// A team that never sleeps also notices a lost peer.
#[test]
fn a_spinning_team_notices_a_member_that_leaves() {
    let options = Options {
        wait_config: Some(corecast_wire::WaitConfig::SPIN),
        ..Options::default()
    };
    let team = team_of(2, Pattern::Sequential, &options);
    let results = team.run(|member| match member.rank() {
        0 => member.barrier(),
        _ => Ok(()),
    });
    let failure = results[0].clone().unwrap_err();
    assert!(
        matches!(
            failure,
            Failure::PeerLost {
                how: Loss::Left,
                ..
            }
        ),
        "{failure}"
    );
}

#[test]
fn a_rank_that_nobody_joins_is_an_error() {
    let options = Options {
        join_limit: Duration::from_millis(200),
        ..Options::default()
    };
    let team = team_of(3, Pattern::Sequential, &options);
    let mut member = team.join(0).unwrap();
    let failure = member.barrier().unwrap_err();
    let Failure::NeverJoined { missing, .. } = failure else {
        panic!("{failure}");
    };
    assert!(missing == 1 || missing == 2);
    assert_eq!(failure.to_string().matches("misuse.rs:").count(), 1);
    // The failure stays: the team cannot be used any more.
    assert_eq!(member.barrier(), Err(failure));
}

#[test]
fn dropping_the_team_tells_those_who_wait_for_unjoined_ranks() {
    let team = team_of(2, Pattern::Sequential, &Options::default());
    let mut member = team.join(0).unwrap();
    let waiting = std::thread::spawn(move || member.barrier());
    std::thread::sleep(Duration::from_millis(30));
    drop(team);
    // Not `NeverJoined`, which is the failure when the limit for joining ends.
    let failure = waiting.join().unwrap().unwrap_err();
    assert!(matches!(failure, Failure::PeerLost { .. }), "{failure}");
}

#[test]
fn a_member_that_leaves_is_an_error_for_those_who_wait() {
    for pattern in patterns() {
        let results = run(4, pattern, |member| {
            member.barrier()?;
            if member.rank() == 2 {
                return Ok(());
            }
            member.barrier()?;
            member.barrier()
        });
        both_sites_named(&results, "left");
        assert_eq!(results.iter().filter(|r| r.is_err()).count(), 3);
    }
}

#[test]
fn a_member_that_panics_is_an_error_for_the_others() {
    let team = team_of(3, Pattern::Binomial, &Options::default());
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        team.run(|member| {
            member.barrier().unwrap();
            if member.rank() == 1 {
                panic!("seeded panic of rank 1");
            }
            let failure = member.barrier().unwrap_err();
            assert!(
                matches!(
                    failure,
                    Failure::PeerLost {
                        how: Loss::Panicked,
                        ..
                    }
                ),
                "{failure}"
            );
        });
    }));
    let message = *caught.unwrap_err().downcast::<&str>().unwrap();
    assert_eq!(message, "seeded panic of rank 1");
}

#[test]
fn a_late_member_is_an_error_only_with_a_limit() {
    let patient = team_of(2, Pattern::Binary, &Options::default());
    let slow = |member: &mut Member| {
        if member.rank() == 1 {
            std::thread::sleep(Duration::from_millis(600));
        }
        member.barrier()
    };
    assert_eq!(patient.run(slow), [Ok(()), Ok(())]);
    let options = Options {
        patience: Some(Duration::from_millis(100)),
        ..Options::default()
    };
    let hasty = team_of(2, Pattern::Binary, &options);
    let gave_up = AtomicBool::new(false);
    let results = hasty.run(|member| {
        // Wait until the other rank has given up, however busy the machine is.
        while member.rank() == 1 && !gave_up.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let met = member.barrier();
        gave_up.store(true, Ordering::Relaxed);
        met
    });
    let failure = results[0].clone().unwrap_err();
    let Failure::Stalled { remote, waited, .. } = failure else {
        panic!("{failure}");
    };
    assert!(remote.rank == 1 && waited >= Duration::from_millis(100));
}

#[test]
#[should_panic(expected = "root 2 is outside of the team, whose ranks are 0 to 1")]
fn a_root_outside_of_the_team_is_a_panic() {
    let team = team_of(2, Pattern::Binary, &Options::default());
    let mut member = team.join(0).unwrap();
    let _ = member.broadcast_value(2, 0u8);
}

#[test]
fn plans_of_different_sizes_are_refused() {
    let tree = |n: usize| {
        let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
        Pattern::Chain.tree(machine.costs(), 0).unwrap()
    };
    let small: Tree = tree(2);
    let barrier = Plans::of_tree(&tree(3)).barrier().clone();
    let error = Plans::of_tree(&small).with_barrier(barrier).unwrap_err();
    let said = "the plans are for teams of different sizes: barrier 3, broadcast 2, reduce 2";
    assert_eq!(error.to_string(), said);
}

#[test]
fn odd_options_are_refused() {
    let plans = plans_of(2, Pattern::Chain);
    let slots = Options {
        slots: Some(12),
        ..Options::default()
    };
    let error = Team::with_options(plans.clone(), &slots).unwrap_err();
    assert!(error.to_string().contains("12 were asked for"), "{error}");
    let nodes = Options {
        numa_nodes: Some(vec![0]),
        ..Options::default()
    };
    let error = Team::with_options(plans, &nodes).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("1 NUMA nodes were given for 2 ranks"),
        "{error}"
    );
}

/// An idle team uses next to no CPU: its members sleep, and use less than a twentieth of the time for which they
/// wait.
#[test]
fn an_idle_team_sleeps() {
    let team = team_of(4, Pattern::Sequential, &Options::default());
    let numbers: [Number; 4] = Default::default();
    team.run(|member| {
        numbers[member.rank()].tell();
        if member.rank() == 0 {
            let sleepers: Vec<Sleeper> = numbers[1..].iter().map(Sleeper::seen).collect();
            std::thread::sleep(Duration::from_millis(1500));
            sleepers.iter().for_each(Sleeper::has_slept);
        }
        member.barrier().unwrap();
    });
}

/// When a member cancels, all complete the operations before, and none completes one that comes after.
#[test]
fn cancelled_from_the_next_operation_on() {
    let options = Options::default();
    for pattern in patterns() {
        for n in [2, 3, 5, 8] {
            for caller in [0, n - 1] {
                for before in [0, 1, 7] {
                    let (done, ended) = mpsc::channel();
                    let options = options.clone();
                    std::thread::spawn(move || {
                        let team = team_of(n, pattern, &options);
                        let ended = team.run(|member| {
                            for _ in 0..before {
                                member.barrier().unwrap();
                            }
                            if member.rank() == caller {
                                member.cancel();
                            }
                            [member.barrier(), member.barrier()]
                        });
                        done.send((ended, team.failure())).unwrap();
                    });
                    let (ended, failure) = ended.recv_timeout(WATCHDOG).unwrap();
                    assert_eq!(failure, None, "to call off is no failure");
                    for (rank, both) in ended.into_iter().enumerate() {
                        let off = Err(Failure::Cancelled { rank });
                        assert_eq!(both, [off.clone(), off], "{pattern}, {n} ranks");
                    }
                }
            }
        }
    }
}

#[test]
fn a_failure_goes_before_what_is_cancelled() {
    let results = run(3, "chain".parse().unwrap(), |member| {
        if member.rank() == 0 {
            return Ok(()); // leaves
        }
        let lost = member.barrier();
        member.cancel();
        assert_eq!(member.barrier(), lost);
        lost
    });
    assert!(
        matches!(results[1], Err(Failure::PeerLost { .. })) && results[1] == results[2],
        "{results:?}"
    );
}

/// Of two that cancel the earlier operation counts, whoever comes first. Rank 0 is five broadcasts ahead; rank 1
/// cancels the first one, which it was to pass on to rank 2.
#[test]
fn the_earlier_of_two_cancellations_counts() {
    for ahead_first in [false, true] {
        let (done, ended) = mpsc::channel();
        std::thread::spawn(move || {
            let mut options = Options::default();
            options
                .algorithms
                .ask("broadcast", &[(usize::MAX, Some("messages"))])
                .unwrap();
            let team = team_of(3, Pattern::Chain, &options);
            let [sent, ahead, behind, over] = [const { AtomicBool::new(false) }; 4];
            let until = |flag: &AtomicBool| {
                while !flag.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(1));
                }
            };
            let ended = team.run(|member| {
                let mut data = [7u8; 8];
                match member.rank() {
                    0 => {
                        (0..5).for_each(|_| member.broadcast(0, &mut data).unwrap());
                        sent.store(true, Ordering::SeqCst);
                        if !ahead_first {
                            until(&behind);
                        }
                        member.cancel();
                        ahead.store(true, Ordering::SeqCst);
                    }
                    1 => {
                        until(&sent);
                        if ahead_first {
                            until(&ahead);
                        }
                        member.cancel();
                        behind.store(true, Ordering::SeqCst);
                    }
                    _ => {
                        until(&ahead);
                        until(&behind);
                        let ended = member.broadcast(0, &mut data);
                        over.store(true, Ordering::SeqCst);
                        return ended;
                    }
                }
                // A member that leaves ends the wait of rank 2, too.
                until(&over);
                member.barrier()
            });
            done.send((ended, team.failure())).unwrap();
        });
        let (ended, failure) = ended.recv_timeout(WATCHDOG).unwrap();
        let cancelled: Vec<_> = (0..3)
            .map(|rank| Err(Failure::Cancelled { rank }))
            .collect();
        assert_eq!((ended, failure), (cancelled, None), "{ahead_first}");
    }
}

/// Rank 2 has another length, for which rank 1 would pass the data on. That one has ended the operation and calls no other
/// one, as it has cancelled them.
#[test]
fn whoever_cancels_has_ended_what_came_before() {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let mut options = Options::default();
        let ways = [(64, Some("line")), (usize::MAX, Some("messages"))];
        options.algorithms.ask("broadcast", &ways).unwrap();
        let team = team_of(3, Pattern::Chain, &options);
        let [published, told] = [const { AtomicBool::new(false) }; 2];
        let until = |what: &str, flag: &AtomicBool| {
            eventually(what, || flag.load(Ordering::Acquire));
        };
        let ended = team.run(|member| {
            let (rank, mut data) = (member.rank(), [7u64; 20]);
            if rank == 1 {
                until("published", &published);
            }
            let ended = member.broadcast(0, &mut data[..if rank == 2 { 20 } else { 1 }]);
            if rank == 1 {
                member.cancel();
            }
            let next = if rank == 2 { &told } else { &published };
            next.store(true, Ordering::Release);
            until("rank 2 is told", &told);
            ended
        });
        done.send(ended).unwrap();
    });
    let ended = ended.recv_timeout(WATCHDOG).expect("it ends");
    assert_eq!(ended[..2], [Ok(()), Ok(())]);
    assert!(
        matches!(ended[2], Err(Failure::Mismatch { .. })),
        "{ended:?}"
    );
}

/// A length that is refused when the operation has begun, by a member that catches that and goes on.
#[test]
fn whoever_goes_on_after_a_refused_length_is_named_with_its_next_operation() {
    for pattern in patterns() {
        let results = run(3, pattern, |member| {
            let (send, mut recv) = ([1u8; 2], [0; 6]);
            let recv = &mut recv[..if member.rank() == 1 { 5 } else { 6 }];
            let gather = std::panic::AssertUnwindSafe(|| member.allgather(&send, recv));
            let gathered = std::panic::catch_unwind(gather);
            if let Ok(ended) = gathered {
                ended?;
            }
            member.barrier()
        });
        let failure = both_sites_named(&results, "went on");
        assert!(matches!(failure, Failure::Mismatch { .. }), "{failure:?}");
        let said = failure.to_string();
        for words in ["allgather (operation 1)", "rank 1: barrier (operation 2)"] {
            assert!(said.contains(words), "{pattern}: {said}");
        }
    }
}

/// The team fails when the operator panics, not when its member leaves or does something else. Two ranks exchange a single value
/// without noting more of the operation than others look at.
#[test]
fn an_operator_that_panics_fails_all_even_if_the_member_catches_it() {
    let sizes = |pattern| [(pattern, 3), (pattern, 2)];
    for (pattern, size) in patterns().into_iter().flat_map(sizes) {
        let results = run(size, pattern, |member| {
            member.barrier()?;
            let rank = member.rank();
            let mut data = vec![rank as u64; 2 * member.size() - 3];
            let add = |a: u64, b: u64| match rank {
                0 => panic!("operator, on purpose"),
                _ => a + b,
            };
            let reduce = std::panic::AssertUnwindSafe(|| member.allreduce(&mut data, add));
            if let Ok(ended) = std::panic::catch_unwind(reduce) {
                ended?;
            } else {
                // Others could wait for this long.
                std::thread::sleep(Duration::from_millis(20));
            }
            member.barrier()
        });
        let failure = results[0].clone().unwrap_err();
        assert!(results.iter().all(|result| *result == Err(failure.clone())));
        let said = failure.to_string();
        assert!(
            said.starts_with("rank 0 panicked (last: rank 0: allreduce (operation 2) at"),
            "{pattern}, {size} ranks: {said}"
        );
    }
}

/// No process of a team can have such ranks.
#[test]
fn ranks_outside_of_a_team_of_processes_are_refused() {
    let plans = plans_of(2, Pattern::Smelt);
    let options = Options::default();
    let memory = ProcessGroup::found(&plans, &options).unwrap();
    for rank in [2, (1 << 32) | 1, usize::MAX] {
        let error = ProcessGroup::attach(&memory, &[0, rank], &options).unwrap_err();
        let said = error.to_string();
        assert!(
            said.starts_with(&format!("rank {rank} is outside of a team of 2")),
            "{said}"
        );
    }
    let options = Options {
        depth: DEPTH_MAX + 1,
        ..Options::default()
    };
    let said = ProcessGroup::found(&plans, &options)
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("at most 65536") && said.contains("65537"),
        "{said}"
    );
}
