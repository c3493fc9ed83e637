//! The check of a contestant before it is timed, and the choice of the rank that answers its
//! broadcasts.

use super::collective::ELEMENT_BYTES;
use super::member::{ContestantRank, sum};
use crate::engine::{Flaw, Ledger, Member, verify_barrier};
use crate::said::as_said;
use crate::stats;
use corecast_model::Collective;
use corecast_team::Failure;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// Batches with each rank as answerer, in the trials that find the last rank to receive. Each batch
/// has `TRIAL_OPERATIONS` operations.
const TRIALS: usize = 5;
const TRIAL_OPERATIONS: u64 = 32;

/// Checks the operation in every team, with every root in turn, and for broadcasts finds the rank
/// that answers.
pub(super) fn verify(
    own: &mut ContestantRank<'_>,
    rank: usize,
    ledger: &Ledger,
) -> Result<(), Flaw> {
    check(own, rank, ledger)?;
    // All ranks ran the same algorithm, or results would be wrong.
    if rank == 0 {
        let root = own.contestant.exercise.root;
        own.contestant.ran.get_or_init(|| algorithm(own, root));
    }
    Ok(())
}

/// The algorithm that this rank runs next with this root.
fn algorithm(own: &ContestantRank<'_>, root: usize) -> &'static str {
    let exercise = &own.contestant.exercise;
    let (collective, bytes) = (exercise.collective, exercise.bytes);
    own.members[own.place].algorithm(collective, root, bytes, ELEMENT_BYTES)
}

fn check(own: &mut ContestantRank<'_>, rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
    match own.contestant.exercise.collective {
        Collective::Barrier => {
            verify_barrier(rank, ledger, &mut |operations| {
                own.turn();
                as_said(own, |own| algorithm(own, 0), |own| own.run(operations));
            })?;
            match own.contestant.teams.iter().find_map(|team| team.failure()) {
                Some(failure) => Err(failed(failure)),
                None => Ok(()),
            }
        }
        Collective::Broadcast => {
            let flaw = contents(own, ledger)?;
            find_answerer(own).map_err(failed)?;
            flaw
        }
        _ => contents(own, ledger)?,
    }
}

fn failed(failure: Failure) -> Flaw {
    Flaw::WrongResult(failure.to_string())
}

/// What rank `rank` puts at position `at` of its data for operation `number`.
fn value(rank: usize, number: u64, at: usize) -> u64 {
    // Odd factors are invertible modulo 2^64: another rank, number or position gives another value.
    (rank as u64 + 1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(number.wrapping_mul(0xc2b2_ae3d_27d4_eb4f))
        .wrapping_add((at as u64).wrapping_mul(0x1656_67b1_9e37_79f9))
}

/// Checks this rank's data after each operation. The outer error is a failed team, upon which the
/// rank stops; after a wrong result (the inner error) it goes on, since other ranks wait for it.
fn contents(own: &mut ContestantRank<'_>, ledger: &Ledger) -> Result<Result<(), Flaw>, Flaw> {
    let (ranks, rank) = (ledger.ranks(), own.rank);
    let collective = own.contestant.exercise.collective;
    let mut flaw = Ok(());
    for number in 1..=ledger.rounds() {
        own.turn();
        let root = number as usize % ranks;
        // Before every eighth operation one rank comes late.
        if number % 8 == 1 && (number / 8) as usize % ranks == rank {
            thread::sleep(Duration::from_micros(200));
        }
        for (at, element) in own.data.iter_mut().enumerate() {
            *element = value(rank, number, at);
        }
        as_said(
            own,
            |own| algorithm(own, root),
            |own| {
                let member = &mut own.members[own.place];
                match collective {
                    Collective::Broadcast => member.broadcast(root, &mut own.data),
                    Collective::Reduce => member.reduce(root, &mut own.data, sum),
                    _ => member.allreduce(&mut own.data, sum),
                }
            },
        )
        .map_err(failed)?;
        let expected = |at: usize| match collective {
            Collective::Broadcast => value(root, number, at),
            Collective::Reduce if rank != root => value(rank, number, at),
            _ => (0..ranks).map(|r| value(r, number, at)).fold(0, sum),
        };
        let wrong = own
            .data
            .iter()
            .enumerate()
            .find(|&(at, v)| *v != expected(at));
        if let Some((at, found)) = wrong
            && flaw.is_ok()
        {
            flaw = Err(Flaw::WrongResult(format!(
                "{collective} {number} gave rank {rank} {found:#x} at position {at}, expected {:#x}",
                expected(at)
            )));
        }
    }
    Ok(flaw)
}

/// Chooses as answerer the rank whose answers reach the root last, by the median of trials.
fn find_answerer(own: &mut ContestantRank<'_>) -> Result<(), Failure> {
    let root = own.contestant.exercise.root;
    let ranks = own.contestant.teams[0].size();
    let mut slowest = (own.contestant.answerer.load(Ordering::Relaxed), 0.0);
    for answerer in (0..ranks).filter(|&rank| rank != root) {
        let mut times = Vec::new();
        for _ in 0..TRIALS {
            own.turn();
            let time = own.broadcasts(TRIAL_OPERATIONS, answerer)?;
            times.extend(time.map(|time| time.as_secs_f64()));
        }
        if let Some(time) = stats::median(&times)
            && time > slowest.1
        {
            slowest = (answerer, time);
        }
    }
    if own.rank == root {
        // Relaxed: the others read it in a later job, which they get under a lock.
        own.contestant.answerer.store(slowest.0, Ordering::Relaxed);
    }
    Ok(())
}
