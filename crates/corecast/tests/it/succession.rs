//! Teams that go on without some of their ranks, or with others in their places.

use crate::processes::builder;
use corecast::choose::DecidedBy;
use corecast::model::synthetic;
use corecast::operator::Sum;
use corecast::plan::Operation;
use corecast::process::{Address, EnterError};
use corecast::{Error, Failure, Loss, Team};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, Stdio};

fn exercise(team: &Team) {
    let size = team.size() as u64;
    team.run(|member| {
        for len in [1, 100, 20_000] {
            let mut sum = vec![member.rank() as u64 + 1; len];
            member.allreduce(&mut sum, Sum).unwrap();
            assert_eq!(sum, vec![size * (size + 1) / 2; len]);
            for root in 0..team.size() {
                let from = member.broadcast_value(root, member.rank());
                assert_eq!(from, Ok(root));
                let mut sum = [1_u64];
                member.reduce(root, &mut sum, Sum).unwrap();
                assert!(member.rank() != root || sum == [size]);
            }
            member.barrier().unwrap();
        }
    });
}

#[test]
fn threads_go_on_over_repaired_plans() {
    let machine = synthetic("package:2 core:6").unwrap();
    for leaving in [&[5][..], &[0], &[11, 3], &[2, 4, 6, 8, 10], &[]] {
        let before = builder().machine(machine.clone()).threads(12).build();
        let before = before.unwrap();
        exercise(&before);
        let next = before.without(leaving).unwrap();
        let staying: Vec<usize> = (0..12).filter(|rank| !leaving.contains(rank)).collect();
        assert_eq!(next.ranks, staying);
        let pus: Vec<u32> = staying.iter().map(|&rank| before.pus()[rank]).collect();
        assert_eq!(next.team.pus(), pus);
        assert!(next.progress.iter().all(|rank| rank.lost.is_none()));
        // Every rank has ended the last barrier.
        let all = next.progress[0].ended.as_ref().unwrap().completed;
        assert!(all > 0 && next.completed() == all);
        exercise(&next.team);
        for chosen in next.team.explain().operations {
            assert!(
                chosen.decided_by == DecidedBy::Repair || chosen.operation == Operation::Barrier,
                "{chosen:?}"
            );
        }
    }
}

#[test]
fn what_was_asked_for_is_kept() {
    let asked = builder()
        .threads(6)
        .pattern("chain".parse().unwrap())
        .root(4);
    let team = asked.build().unwrap();
    let root_of = |team: &Team| team.explain().operations[1].root;
    let next = team.without(&[1, 2]).unwrap().team;
    assert_eq!(root_of(&next), Some(2), "the same rank has another number");
    for chosen in next.explain().operations {
        assert_eq!(
            (chosen.pattern.as_str(), chosen.decided_by),
            ("chain", DecidedBy::User)
        );
    }
    exercise(&next);
    // The root itself may leave.
    let rest = next.without(&[2]).unwrap().team;
    assert!(root_of(&rest).is_some_and(|root| root < 3));
    exercise(&rest);
}

#[test]
fn a_rank_whose_thread_panicked_is_left_out() {
    let team = builder().threads(4).build().unwrap();
    let panics = |member: &mut corecast::Member| -> Result<(), Failure> {
        member.barrier()?;
        member.barrier()?;
        if member.rank() == 2 {
            std::panic::resume_unwind(Box::new("lost"));
        }
        (0..3).try_for_each(|_| member.allreduce_value(1, |a: u64, b| a + b).map(drop))
    };
    assert!(catch_unwind(AssertUnwindSafe(|| team.run(panics))).is_err());
    let next = team.without(&[]).unwrap();
    assert_eq!(next.ranks, [0, 1, 3]);
    for progress in &next.progress {
        let ended = progress.ended.as_ref().unwrap();
        assert_eq!(ended.completed, 2, "{progress:?}");
        let is_lost = progress.rank == 2;
        assert_eq!(progress.lost, is_lost.then_some(Loss::Panicked));
        let failed: Vec<u32> = ended
            .failed
            .iter()
            .map(|failed| failed.operation.unwrap().seq)
            .collect();
        assert_eq!(failed, if is_lost { vec![] } else { vec![3] });
        assert!(ended.failed.iter().all(|failed| {
            failed
                .site
                .as_ref()
                .is_some_and(|site| site.to_string().contains("succession.rs"))
        }));
    }
    assert_eq!(next.completed(), 2);
    exercise(&next.team);
    let refilled = team.refilled().unwrap();
    assert_eq!(
        (refilled.team.size(), refilled.ranks.as_slice()),
        (4, &[0, 1, 3][..])
    );
    exercise(&refilled.team);
}

#[test]
fn operations_in_flight_are_told_apart() {
    let team = builder().threads(3).build().unwrap();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        team.run(|member| {
            let rank = member.rank();
            let (mut one, mut two) = ([1_u64; 4], [2_u64; 4]);
            member.barrier().unwrap();
            let flown = member.overlap(|flight| {
                flight.allreduce(&mut one, &Sum)?.wait()?;
                if rank == 0 {
                    std::panic::resume_unwind(Box::new("lost"));
                }
                let first = flight.allreduce(&mut two, &Sum)?;
                let second = flight.barrier()?;
                first.wait().and(second.wait())
            });
            assert!(flown.unwrap().is_err());
        })
    }));
    assert!(ended.is_err());
    let next = team.without(&[]).unwrap();
    assert_eq!((next.ranks.as_slice(), next.completed()), (&[1, 2][..], 2));
    for rank in [1, 2] {
        let failed = &next.progress[rank].ended.as_ref().unwrap().failed;
        let all: Vec<_> = failed
            .iter()
            .filter_map(|failed| failed.operation)
            .collect();
        // The second may have been called after the failure of the first was known, and is refused then.
        assert!(
            !all.is_empty() && all[0].seq == 3 && all.iter().all(|op| op.in_flight),
            "{all:?}"
        );
    }
}

#[test]
fn a_team_that_cannot_go_on_says_why() {
    let team = builder().threads(2).build().unwrap();
    let member = team.join(1).unwrap();
    let joined = team.without(&[1]).unwrap_err();
    assert!(
        matches!(joined, Error::Enter(EnterError::Joined { rank: 1 })),
        "{joined}"
    );
    drop(member);
    assert!(matches!(team.without(&[0, 1]), Err(Error::NoRanks)));
    let outside = catch_unwind(AssertUnwindSafe(|| drop(team.without(&[2]))));
    assert!(outside.is_err());
}

/// The variable that is set for the children, which run this test program.
const PART: &str = "CORECAST_TEST_PART";

/// The address that [`PART`] names, and the rank.
fn start(name: &str, rank: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "succession::part", "--nocapture"])
        .env(PART, format!("{name} {rank}"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Ends without a word amid operations, as rank 2 of three.
#[test]
fn part() {
    let Ok(part) = std::env::var(PART) else {
        return;
    };
    let Some((name, rank)) = part.split_once(' ') else {
        return;
    };
    let (address, rank) = (Address::Name(name.to_owned()), rank.parse().unwrap());
    let team = builder().enter(&address, 3, &[Some(rank)]).unwrap();
    team.run(|member| {
        (0..5).for_each(|_| member.barrier().unwrap());
        std::process::exit(0);
    });
}

#[test]
fn processes_go_on_and_take_others_in() {
    let name = format!("facade-succession-{}", std::process::id());
    let address = Address::Name(name.clone());
    let mut other = start(&name, 2);
    let mut team = builder().enter(&address, 3, &[Some(0), Some(1)]).unwrap();
    for round in 0..3 {
        let ended = team.run(|member| {
            let ended = (0..).find_map(|_| member.barrier().err());
            ended.expect("the other process ends")
        });
        assert!(
            matches!(
                ended[0],
                Failure::PeerLost {
                    how: Loss::Died,
                    ..
                }
            ),
            "{ended:?}"
        );
        assert!(other.wait().unwrap().success());
        if round == 2 {
            break;
        }
        // Another process takes its place, and ends as well.
        other = start(&name, 2);
        let next = team.refilled().unwrap();
        assert_eq!((next.ranks.as_slice(), next.team.size()), (&[0, 1][..], 3));
        assert_eq!(next.completed(), 5);
        assert_eq!(next.progress[2].lost, Some(Loss::Died));
        team = next.team;
    }
    let next = team.without(&[]).unwrap();
    assert_eq!(next.ranks, [0, 1]);
    assert_eq!(next.team.size(), 2);
    let explained = next.team.explain();
    assert!(
        explained
            .operations
            .iter()
            .any(|chosen| chosen.decided_by == DecidedBy::Repair)
    );
    exercise(&next.team);
}
