//! Faults seeded in the code itself: a simulation that finds none of them would prove nothing.

use super::phases;
use super::run::run_all;
use corecast_wire::mutant::{Mutant, seed};

/// Seeds in which each fault must be found.
const SEEDS: u64 = 10_000;

/// Faults of teams and of the lines below them, which random programs must find.
const OF_TEAMS: [Mutant; 24] = [
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
    Mutant::RevokesEarlier,
    Mutant::EndUnseen,
    Mutant::RestUnseen,
    Mutant::CancelOverwrites,
    Mutant::PanicUntold,
    Mutant::NoLastLook,
    Mutant::AnyUnheard,
    Mutant::OneReaderFrees,
    Mutant::OneReaderWakes,
    Mutant::OneMemberWakes,
    Mutant::NoFlowControl,
    Mutant::NoBodyFlow,
];

#[test]
fn phases_find_arrivals_that_count_where_they_must_not() {
    for mutant in [Mutant::ManyAddFirst, Mutant::TakeBackAnyway] {
        seed(mutant);
        let found = (0..SEEDS).find_map(|number| Some((number, phases::run(number).err()?)));
        seed(Mutant::None);
        let (number, what) = found.unwrap_or_else(|| panic!("{mutant:?} is not found"));
        println!("{mutant:?}: seed {number}: {what}");
    }
}

#[test]
fn random_programs_find_every_seeded_fault() {
    let mut missed = Vec::new();
    for mutant in OF_TEAMS {
        match run_all(0..SEEDS, || seed(mutant)) {
            Err(found) => println!("{mutant:?}: seed {}: {}", found.replay, found.what),
            Ok(_) => missed.push(mutant),
        }
    }
    assert!(missed.is_empty(), "not found in {SEEDS} seeds: {missed:?}");
}
