//! The choice of the start with which ranks begin closer together on this machine.

use super::ELEMENT_BYTES;
use super::conditions::{Conditions, Start};
use super::task::Task;
use super::threads::Threads;
use super::trial::Trial;
use crate::comparison::Comparison;
use crate::cpu_placement::{self, CpuPlacement};
use crate::race::{self, Entrant, RaceError, Settings};
use crate::stats;
use corecast_collectives::Plans;
use corecast_model::Collective;
use corecast_team::TeamError;
use std::time::Duration;

/// A start, and why it was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The start.
    pub start: Start,
    /// Why, as a sentence for the reader of a table.
    pub reason: String,
}

/// Why no start could be chosen.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// The teams to measure with could not be made.
    #[error("starts were not compared: {0}")]
    Team(#[from] TeamError),
    /// The race could not be run.
    #[error("starts were not compared: {0}")]
    Race(#[from] RaceError),
}

/// Starts short broadcasts by both methods, in turn, and chooses the one whose ranks begin closer
/// together. Where ranks share hardware threads it chooses the barrier without a measurement, since
/// a rank that watches the clock keeps the others from running.
///
/// # Errors
///
/// [`ChoiceError`] if the starts could not be compared.
///
/// # Panics
///
/// If `plans` are for another number of ranks than there are placements.
///
/// # Cost
///
/// About a fifth of a second.
///
/// # Examples
///
/// ```
/// use corecast_bench::{cpu_placement, sized};
/// use corecast_collectives::Plans;
/// use corecast_plan::Pattern;
///
/// let two = corecast_model::synthetic("core:2")?;
/// let plans = Plans::of_pattern(two.costs(), Pattern::Binomial, Some(0))?;
/// let choice = sized::choose(&plans, &cpu_placement::free(2))?;
/// println!("{}: {}", choice.start, choice.reason);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn choose(plans: &Plans, placements: &[CpuPlacement]) -> Result<Choice, ChoiceError> {
    if cpu_placement::oversubscribed(placements) {
        return Ok(Choice {
            start: Start::Barrier,
            reason: "start: barrier, since ranks share hardware threads".to_owned(),
        });
    }
    let task = Task {
        operation: Collective::Broadcast,
        ranks: placements.len(),
        bytes: ELEMENT_BYTES,
    };
    let mut entrants = Vec::new();
    for start in METHODS {
        let threads = Threads::new(start.to_string(), task, plans, placements.len())?;
        let conditions = Conditions::from(false).starting(start);
        entrants.push(Entrant::threads(Trial::new(threads, task, conditions)));
    }
    let settings = Settings {
        budget: Duration::from_millis(100),
        ..Settings::quick()
    };
    let race = race::run("start", placements, &settings, &entrants, |_| {})?;
    Ok(decide(METHODS.map(|start| spread(&race, start))))
}

const METHODS: [Start; 2] = [Start::Window, Start::Barrier];

/// How many nanoseconds apart ranks began, as a median of the rounds.
fn spread(race: &Comparison, start: Start) -> Option<f64> {
    let name = start.to_string();
    let entry = race.entries.iter().find(|entry| entry.name == name)?;
    stats::median(&entry.start_spreads())
}

/// Chooses the method with the smaller spread, or a window if a spread is unknown or both are equal.
fn decide(spreads: [Option<f64>; 2]) -> Choice {
    let [Some(window), Some(barrier)] = spreads else {
        return Choice {
            start: Start::Window,
            reason: "start: window, since starts could not be compared".to_owned(),
        };
    };
    let start = match barrier < window {
        true => Start::Barrier,
        false => Start::Window,
    };
    Choice {
        start,
        reason: format!(
            "start: {start}, as ranks began {window:.0} ns apart in a window and {barrier:.0} ns apart after a barrier"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closer_start_wins_and_says_why() {
        let choice = decide([Some(20.0), Some(150.0)]);
        assert_eq!(choice.start, Start::Window);
        assert!(choice.reason.contains("20 ns") && choice.reason.contains("150 ns"));
        assert_eq!(decide([Some(900.0), Some(150.0)]).start, Start::Barrier);
        assert_eq!(decide([Some(5.0), Some(5.0)]).start, Start::Window);
        assert_eq!(decide([None, Some(5.0)]).start, Start::Window);
    }

    #[test]
    fn ranks_that_share_threads_start_by_barrier() {
        let machine = corecast_model::synthetic("core:3").unwrap();
        let pattern = corecast_plan::Pattern::Binomial;
        let plans = Plans::of_pattern(machine.costs(), pattern, Some(0)).unwrap();
        let choice = choose(&plans, &cpu_placement::pinned(3, &[0])).unwrap();
        assert_eq!(choice.start, Start::Barrier);
    }
}
