//! Algorithms in CLa's primitives on threads and between processes: waits end with an error when a rank is lost or does
//! something else, sleepers are woken, and what cannot work is refused. What processes of their own do when one is killed is
//! in `lines_killed.rs`.

use crate::common::plans_of;
use crate::overlap::in_time;
use crate::own_process::{WATCHDOG, eventually};
use corecast_collectives::Collective;
use corecast_collectives::one_line::{FlatBarrier, OneLineReduction, Sharing};
use corecast_plan::{Pattern, Tree};
use corecast_process::ProcessGroup;
use corecast_team::{Failure, Loss, Member, Options, Team, TeamError, TeamLines};
use corecast_wire::WaitConfig;
use corecast_wire::cache_lines::{CacheLines, LineSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

fn barrier(n: usize, sharing: Sharing) -> (LineSet, FlatBarrier) {
    let mut lines = LineSet::new(n);
    let barrier = FlatBarrier::new(&mut lines, sharing, sharing);
    (lines, barrier)
}

type Ends = Vec<Result<(), Failure>>;
type Body = fn(&mut Member, &[TeamLines; 2], &FlatBarrier) -> Result<(), Failure>;

/// Whose ranks the three of a team are.
#[derive(Clone, Copy, Debug)]
enum Ranks {
    /// All are threads of one process.
    Threads,
    /// Each belongs to another part of a team of processes. The parts lie in one process, but know nothing of each other.
    Processes,
}

const RANKS: [Ranks; 2] = [Ranks::Threads, Ranks::Processes];

/// Runs `body` as a team of three with two equal sets of lines; the test fails instead of hanging.
fn run(ranks: Ranks, sharing: Sharing, body: Body) -> Ends {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let (set, barrier) = barrier(3, sharing);
        let play = |team: Team| {
            let lines = [(); 2].map(|()| team.lines(&set).unwrap());
            team.run(|member| body(member, &lines, &barrier))
        };
        let ends = match ranks {
            Ranks::Threads => play(Team::new(plans_of(3, Pattern::Binomial)).unwrap()),
            Ranks::Processes => parts(play),
        };
        done.send(ends).unwrap();
    });
    ended.recv_timeout(WATCHDOG).expect("it ends")
}

/// What each part of a team of three processes returns.
fn parts<R: Send>(play: impl Fn(Team) -> Vec<R> + Sync) -> Vec<R> {
    let options = Options::default();
    let memory = &ProcessGroup::found(&plans_of(3, Pattern::Binomial), &options).unwrap();
    std::thread::scope(|scope| {
        let (play, options) = (&play, &options);
        let part = |rank| {
            scope.spawn(move || play(ProcessGroup::attach(memory, &[rank], options).unwrap()))
        };
        let parts = [0, 1, 2].map(part);
        let ends = parts.into_iter().flat_map(|part| part.join().unwrap());
        ends.collect()
    })
}

fn meet(member: &mut Member, lines: &TeamLines, barrier: &FlatBarrier) -> Result<(), Failure> {
    member.on_lines(lines, Collective::Barrier, 0, |lines, round| {
        barrier.run(lines, round)
    })
}

const SHARINGS: [Sharing; 2] = [Sharing::SameLine, Sharing::DifferentLines];

fn all_teams() -> impl Iterator<Item = (Ranks, Sharing)> {
    let with = |ranks| SHARINGS.map(|sharing| (ranks, sharing));
    RANKS.into_iter().flat_map(with)
}

#[test]
fn a_rank_that_leaves_ends_the_waits_of_others() {
    for (ranks, sharing) in all_teams() {
        let ends = run(ranks, sharing, |member, [lines, _], barrier| {
            meet(member, lines, barrier)?;
            match member.rank() {
                1 => Ok(()),
                _ => meet(member, lines, barrier),
            }
        });
        assert_eq!(ends[1], Ok(()), "{ranks:?}, {sharing:?}");
        for rank in [0, 2] {
            let Err(Failure::PeerLost { remote, how, .. }) = &ends[rank] else {
                panic!("{ranks:?}, {sharing:?}: {ends:?}");
            };
            assert_eq!((remote.rank, *how), (1, Loss::Left), "{ranks:?}");
        }
    }
}

#[test]
fn a_panic_amid_an_algorithm_is_a_loss() {
    for ranks in RANKS {
        let ends = run(ranks, Sharing::SameLine, |member, [lines, _], barrier| {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                member.on_lines(lines, Collective::Barrier, 0, |lines, round| {
                    assert_ne!(lines.rank(), 2, "on purpose");
                    barrier.run(lines, round)
                })
            }));
            caught.unwrap_or(Ok(()))
        });
        for end in &ends[..2] {
            assert!(
                matches!(
                    end,
                    Err(Failure::PeerLost {
                        how: Loss::Panicked,
                        ..
                    })
                ),
                "{ranks:?}: {ends:?}"
            );
        }
    }
}

/// All of them are barriers, so that neither history nor fingerprint tells one from another.
#[test]
fn ranks_that_do_something_else_are_noticed() {
    let all: [Body; 3] = [
        |member, [lines, _], barrier| match member.rank() {
            1 => member.barrier(),
            _ => meet(member, lines, barrier),
        },
        |member, [lines, other], barrier| {
            let own = if member.rank() == 1 { other } else { lines };
            meet(member, own, barrier)
        },
        |member, [lines, _], barrier| match member.rank() {
            1 => member.allreduce_value(1u8, |a, b| a + b).map(drop),
            _ => meet(member, lines, barrier),
        },
    ];
    for (ranks, sharing) in all_teams() {
        for body in all {
            let ends = run(ranks, sharing, body);
            for end in &ends {
                let Err(failure @ Failure::Mismatch { .. }) = end else {
                    panic!("{ranks:?}, {sharing:?}: {ends:?}");
                };
                let said = failure.to_string();
                assert_eq!(said.matches("one_line.rs:").count(), 2, "{said}");
            }
        }
    }
}

/// Rank 0 waits for two others. One is amid the round, so the failure names the other one, which has not come.
#[test]
fn a_rank_that_is_late_is_named_and_not_one_that_is_there() {
    let ends = in_time("late".into(), || {
        let options = Options {
            patience: Some(Duration::from_millis(50)),
            ..Options::default()
        };
        let team = Team::with_options(plans_of(3, Pattern::Binomial), &options).unwrap();
        let mut set = LineSet::new(3);
        let came = set.counter("came", &[1, 2], 0);
        let lines = team.lines(&set).unwrap();
        let [there, gave_up] = [const { AtomicBool::new(false) }; 2];
        let until = |what: &str, flag: &AtomicBool| {
            eventually(what, || flag.load(Ordering::Acquire));
        };
        team.run(|member| {
            if member.rank() == 2 {
                until("rank 0 gives up", &gave_up);
            }
            let ended = member.on_lines(&lines, Collective::Barrier, 0, |lines, _| {
                match lines.rank() {
                    0 => {
                        until("rank 1 comes", &there);
                        lines.wait(came, 2)?;
                    }
                    1 => {
                        there.store(true, Ordering::Release);
                        until("rank 0 gives up", &gave_up);
                    }
                    _ => lines.add(came, 1),
                }
                Ok(())
            });
            gave_up.store(true, Ordering::Release);
            ended
        })
    });
    let Err(Failure::Stalled { local, remote, .. }) = &ends[0] else {
        panic!("{ends:?}");
    };
    assert_eq!((local.rank, remote.rank), (0, 2));
}

/// All others have ended the round, so nobody will write the value.
#[test]
fn a_wait_for_a_value_that_nobody_writes_ends() {
    let ends = in_time("never written".into(), || {
        let team = Team::new(plans_of(3, Pattern::Binomial)).unwrap();
        let mut set = LineSet::new(3);
        let came = set.counter("came", &[1, 2], 0);
        let lines = team.lines(&set).unwrap();
        team.run(|member| {
            member.on_lines(&lines, Collective::Barrier, 0, |lines, _| {
                match lines.rank() {
                    0 => lines.wait(came, 3),
                    _ => {
                        lines.add(came, 1);
                        Ok(())
                    }
                }
            })
        })
    });
    assert!(matches!(ends[0], Err(Failure::Mismatch { .. })), "{ends:?}");
    assert_eq!(ends[1..], [Ok(()), Ok(())]);
}

/// More ranks than hardware threads, none of which spins: each wait is a sleep, and each round wakes all.
#[test]
fn sleepers_are_woken_in_every_round() {
    let options = Options {
        wait_config: Some(WaitConfig::PARK),
        ..Options::default()
    };
    let team = Team::with_options(plans_of(4, Pattern::Binomial), &options).unwrap();
    let mut set = LineSet::new(4);
    let tree = Tree::from_children(0, vec![vec![1, 2], vec![3], vec![], vec![]]).unwrap();
    let reduction = OneLineReduction::new(&mut set, &tree, None);
    let lines = team.lines(&set).unwrap();
    let sums = team.run(|member| {
        let mine = reduction.data(member.rank());
        let round = |_| {
            let sum = member.on_lines(&lines, Collective::Reduce, 0, |lines, round| {
                lines.set_payload(mine, [round * (1 << lines.rank()); 7]);
                reduction.run(lines, round)?;
                Ok(lines.payload(mine)[6])
            });
            sum.unwrap()
        };
        (0..200).map(round).collect::<Vec<u64>>()
    });
    let expected: Vec<u64> = (1..=200).map(|round| 15 * round).collect();
    assert_eq!(sums[0], expected);
}

#[test]
#[should_panic(expected = "these lines are those of another team")]
fn lines_of_another_team_are_refused() {
    let teams = [1, 1].map(|n| Team::new(plans_of(n, Pattern::Binomial)).unwrap());
    let (set, barrier) = barrier(1, Sharing::SameLine);
    let lines = teams[0].lines(&set).unwrap();
    teams[1].run(|member| meet(member, &lines, &barrier).unwrap());
}

#[test]
#[should_panic(expected = "lines for 2 ranks in a team of 1")]
fn lines_for_more_ranks_are_refused() {
    let team = Team::new(plans_of(1, Pattern::Binomial)).unwrap();
    let _ = team.lines(&LineSet::new(2));
}

/// One process makes the lines of two algorithms in the other order, so that those of one lie where the others have those of
/// the other one.
#[test]
fn processes_that_have_other_lines_at_a_place_notice_it() {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let sets = SHARINGS.map(|sharing| barrier(3, sharing));
        let ends = parts(|team| {
            let mut places = [0, 1];
            if team.ranks() == [1] {
                places.reverse();
            }
            let lines = places.map(|at| (at, team.lines(&sets[at].0).unwrap()));
            let (_, lines) = lines.iter().find(|(at, _)| *at == 0).unwrap();
            team.run(|member| meet(member, lines, &sets[0].1))
        });
        done.send(ends).unwrap();
    });
    let ends = ended.recv_timeout(WATCHDOG).expect("it ends");
    for end in &ends {
        assert!(matches!(end, Err(Failure::Mismatch { .. })), "{ends:?}");
    }
}

/// A line lies near the rank that polls it; what all processes keep near each rank for lines is what they were made with.
#[test]
fn lines_without_room_are_refused() {
    let options = Options {
        lines: 512,
        ..Options::default()
    };
    let memory = ProcessGroup::found(&plans_of(2, Pattern::Binomial), &options).unwrap();
    let team = ProcessGroup::attach(&memory, &[0, 1], &Options::default()).unwrap();
    let mut set = LineSet::new(2);
    set.data("data", 1, 300);
    team.lines(&set).unwrap();
    let refused = team.lines(&set).unwrap_err();
    assert!(
        matches!(
            refused,
            TeamError::LinesOfProcesses {
                rank: 1,
                wanted: 38_528,
                left: 27_008
            }
        ),
        "{refused}"
    );
    // What was refused has taken nothing.
    let mut rest = LineSet::new(2);
    rest.data("rest", 1, 210);
    team.lines(&rest).unwrap();
    assert!(team.lines(&LineSet::new(2)).is_err());
}
