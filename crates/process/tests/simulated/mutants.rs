//! Faults seeded in the code itself: a simulation that finds none of them would prove nothing.

use super::run::run_all;
use super::{learning, one_line, phases, runs, successions};
use corecast_wire::mutant::{Mutant, seed};

/// Seeds in which each fault must be found.
const SEEDS: u64 = 10_000;

/// Faults of teams and of the lines below them, which random programs must find.
const OF_TEAMS: [Mutant; 25] = [
    Mutant::PollsInVain,
    Mutant::PanicInFlightUntold,
    Mutant::PanicBlockingUntold,
    Mutant::SecondCancelIgnored,
    Mutant::SecondFailureKept,
    Mutant::BadRootCounts,
    Mutant::TeamsNumbers,
    Mutant::MarkUnseen,
    Mutant::NoSecondLook,
    Mutant::DeathUnheard,
    Mutant::RecordUnwritten,
    Mutant::CancelTooEarly,
    Mutant::EndUnseen,
    Mutant::RestUnseen,
    Mutant::ReturnsUnfilled,
    Mutant::BorrowersUnwatched,
    Mutant::LengthsUnstated,
    Mutant::PanicUntold,
    Mutant::NoLastLook,
    Mutant::AnyUnheard,
    Mutant::OneReaderFrees,
    Mutant::OneReaderWakes,
    Mutant::OneMemberWakes,
    Mutant::NoFlowControl,
    Mutant::NoBodyFlow,
];

/// Faults of teams that show only where two members meet within a few accesses, in one of some 100,000 cases, and a seed
/// before such a case. Models and tests of their own find them too: `wire/tests/loom/stop.rs`, `transfer/tests/it/endpoint`.
const RARE: [(Mutant, u64); 3] = [
    (Mutant::RevokesEarlier, 57_000),
    (Mutant::CancelOverwrites, 60_000),
    (Mutant::CancelUnseen, 226_000),
];

#[test]
fn phases_find_arrivals_that_count_where_they_must_not() {
    find_all(&[Mutant::ManyAddFirst, Mutant::TakeBackAnyway], phases::run);
}

#[test]
fn runs_find_ranks_that_are_waited_for_in_vain_or_taken_for_gone() {
    let faults = [
        Mutant::OwnRestUnseen,
        Mutant::RestChainUnseen,
        Mutant::ResumeUntold,
    ];
    find_all(&faults, runs::run);
}

#[test]
fn successions_find_ranks_that_are_waited_for_though_they_are_gone() {
    find_all(
        &[Mutant::LeavesUntold, Mutant::GoneUnnoted],
        successions::run,
    );
}

/// Each of these faults is found in one of the first cases.
fn find_all(faults: &[Mutant], run: impl Fn(u64) -> Result<(), String>) {
    for &mutant in faults {
        seed(mutant);
        let found = (0..SEEDS).find_map(|number| Some((number, run(number).err()?)));
        seed(Mutant::None);
        let (number, what) = found.unwrap_or_else(|| panic!("{mutant:?} is not found"));
        println!("{mutant:?}: seed {number}: {what}");
    }
}

#[test]
fn lines_find_ranks_that_are_taken_for_lost_and_sleepers_that_are_not_woken() {
    let faults = [
        Mutant::RoundEndUnseen,
        Mutant::OtherLinesUnseen,
        Mutant::OtherSetUnseen,
        Mutant::OneWaiterWakes,
        Mutant::NoSecondLook,
    ];
    find_all(&faults, one_line::run);
}

#[test]
fn learning_finds_ranks_that_conclude_alone() {
    find_all(&[Mutant::LearnsAlone], learning::run);
}

#[test]
fn random_programs_find_every_seeded_fault() {
    let mut missed = Vec::new();
    for (mutant, first) in OF_TEAMS.map(|mutant| (mutant, 0)).into_iter().chain(RARE) {
        match run_all(first..first + SEEDS, || seed(mutant)) {
            Err(found) => println!("{mutant:?}: seed {}: {}", found.replay, found.what),
            Ok(_) => missed.push(mutant),
        }
    }
    assert!(missed.is_empty(), "not found in {SEEDS} seeds: {missed:?}");
}
