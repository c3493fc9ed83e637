//! Sequence numbers of teams that have run for long: teams whose numbers begin near those where they wrap around do what
//! young teams do.

use crate::common::plans_of;
use crate::own_process::WATCHDOG;
use corecast_collectives::operator::Sum;
use corecast_plan::Pattern;
use corecast_team::{Failure, Loss, Member, Options, Team};
use std::sync::mpsc;
use std::time::Duration;

/// Numbers near which something may wrap around: a tag has 8 bits of the number, a history 32, and their differences are
/// signed.
const NEAR: [u64; 6] = [1 << 8, 1 << 16, 1 << 31, 1 << 32, 3 << 31, 1 << 33];

/// What [`Options::begun`] can be for numbers that come to `near` within a few operations. Contexts in flight have
/// either rested from the beginning, or their own numbers come there as well.
fn begun(near: u64) -> impl Iterator<Item = [u64; 2]> {
    let before = [1, 2, 5, 9].map(|before| near - before);
    let rested = before.into_iter().chain([near, near + 1]);
    rested
        .flat_map(|begun| [[begun, 0], [begun, begun]])
        .chain([[3, near - 2]])
}

/// Runs `body` as a team of `n`; the test fails instead of hanging.
fn run<R: Send + 'static>(n: usize, begun: [u64; 2], body: fn(&mut Member) -> R) -> Vec<R> {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let plans = plans_of(n, Pattern::Binomial);
        let options = Options {
            begun,
            depth: 3,
            ..Options::default()
        };
        let team = Team::with_options(plans, &options).unwrap();
        done.send(team.run(body)).unwrap();
    });
    ended
        .recv_timeout(WATCHDOG)
        .unwrap_or_else(|why| panic!("{begun:?}: no end: {why}"))
}

/// Rank 1 is so late that the others look whether it still comes.
fn late(member: &Member) {
    if member.rank() == 1 {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Operations that block and operations in flight, in turn. To each comes somebody late.
fn all_kinds(member: &mut Member) -> Result<(), Failure> {
    let n = member.size() as u64;
    late(member);
    for round in 0..6u64 {
        let (mut a, mut b) = ([round; 7], [round; 3000]);
        if round % 3 == 0 {
            late(member);
        }
        let flown = member.overlap(|flight| {
            let first = flight.allreduce(&mut a, &Sum)?;
            let second = flight.broadcast(1, &mut b)?;
            let third = flight.barrier()?;
            second.wait()?;
            third.wait()?;
            first.wait()
        });
        flown.unwrap()?;
        assert_eq!((a, b), ([round * n; 7], [round; 3000]));
        member.barrier()?;
        assert_eq!(member.allreduce_value(round, |a, b| a + b)?, round * n);
        if round % 3 == 1 {
            late(member);
        }
        assert_eq!(member.broadcast_value(2, round)?, round);
    }
    Ok(())
}

#[test]
fn old_teams_do_what_young_ones_do() {
    for begun in NEAR.into_iter().flat_map(begun) {
        assert_eq!(
            run(3, begun, all_kinds),
            [Ok(()), Ok(()), Ok(())],
            "{begun:?}"
        );
    }
}

#[test]
fn old_teams_notice_whoever_does_something_else() {
    for begun in NEAR.into_iter().flat_map(begun) {
        for results in [
            run(3, begun, |member| {
                (0..3).try_for_each(|_| member.barrier())?;
                match member.rank() {
                    1 => member.allreduce_value(1u8, |a, b| a + b).map(drop)?,
                    _ => member.barrier()?,
                }
                member.barrier()
            }),
            run(3, begun, |member| {
                member.barrier()?;
                let mut word = [1u64];
                let flown = member.overlap(|flight| match flight.rank() {
                    1 => flight.allreduce(&mut word, &Sum)?.wait(),
                    _ => flight.barrier()?.wait(),
                });
                flown.unwrap()?;
                member.barrier()
            }),
        ] {
            for result in results {
                let failure = result.unwrap_err();
                let said = failure.to_string();
                assert!(
                    matches!(failure, Failure::Mismatch { .. }),
                    "{begun:?}: {said}"
                );
                assert_eq!(said.matches("wraps.rs:").count(), 2, "{begun:?}: {said}");
            }
        }
    }
}

#[test]
fn old_teams_notice_whoever_leaves_or_cancels() {
    for begun in NEAR.into_iter().flat_map(begun) {
        let left = run(2, begun, |member| {
            member.barrier()?;
            match member.rank() {
                0 => Ok(()),
                _ => member.overlap(|flight| flight.barrier()?.wait()).unwrap(),
            }
        });
        let failure = left[1].clone().unwrap_err();
        let Failure::PeerLost { how, .. } = failure else {
            panic!("{begun:?}: {failure}");
        };
        assert_eq!(how, Loss::Left);
        let cancelled = run(3, begun, |member| {
            for _ in 0..3 {
                member.barrier().unwrap();
            }
            if member.rank() == 2 {
                member.cancel();
            }
            [member.barrier(), member.barrier()]
        });
        for (rank, both) in cancelled.into_iter().enumerate() {
            let off = Err(Failure::Cancelled { rank });
            assert_eq!(both, [off.clone(), off], "{begun:?}");
        }
    }
}
