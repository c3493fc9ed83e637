//! Races with the machine measured before and after each.

use corecast_bench::Comparison;
use corecast_model::{Collective, Machine, MachineFile};
use corecast_plan::Members;
use corecast_wire::ending;

use super::error::ContestError;
use crate::measure;

type Result<T> = std::result::Result<T, ContestError>;

/// Relative change of a message's time during a race up to which the machine counts as steady.
const STEADY: f64 = 0.15;

/// How often a race is run at most, if the machine changes during it.
const ATTEMPTS: usize = 4;

/// A finished race.
#[derive(Debug)]
pub struct Foreseen {
    /// The times.
    pub comparison: Comparison,
    /// Costs that were measured for this race, if any were.
    pub profile: Option<MachineFile>,
}

/// Measures costs of messages and calls before each race of a team, for models that forecast it.
#[derive(Debug)]
pub struct FreshCosts {
    /// The machine and the team's threads; `None` where nothing is measured.
    of: Option<(Machine, Vec<u32>)>,
}

impl FreshCosts {
    /// Nothing is measured.
    pub const fn none() -> Self {
        Self { of: None }
    }

    /// Measures `machine`, which is this one, for `ranks` on `team`. Nothing is measured where ranks share hardware
    /// threads, as no model knows what a switch of context takes.
    pub fn new(machine: &Machine, team: &Members, ranks: usize) -> Self {
        let mut threads = team.threads.clone();
        threads.sort_unstable();
        threads.dedup();
        let apart = threads.len() == ranks;
        Self {
            of: apart.then(|| (machine.clone(), team.threads.clone())),
        }
    }

    /// Runs a race of `operation`. A race during which the machine changes is repeated.
    ///
    /// # Errors
    ///
    /// The race or a measurement fails.
    pub fn race(
        &self,
        operation: Collective,
        mut run: impl FnMut() -> Result<Comparison>,
    ) -> Result<Foreseen> {
        let Some((machine, threads)) = &self.of else {
            return Ok(Foreseen {
                comparison: run()?,
                profile: None,
            });
        };
        let measure = |operations: &[Collective]| measure::now(machine, threads, operations);
        for attempt in 1.. {
            let profile = measure(&[operation])?;
            let mut comparison = run()?;
            if ending::is_asked() {
                return Ok(Foreseen {
                    comparison,
                    profile: None,
                });
            }
            let after = measure(&[])?;
            let (before, after) = (measure::message_ns(&profile), measure::message_ns(&after));
            let steady = (after / before - 1.0).abs() <= STEADY;
            if !steady && attempt < ATTEMPTS {
                continue;
            }
            if !steady {
                comparison.notes.push(format!(
                    "the machine changed: a message took {before:.0} ns before and {after:.0} ns after this race"
                ));
            }
            return Ok(Foreseen {
                comparison,
                profile: Some(profile),
            });
        }
        unreachable!("the last attempt returns")
    }
}
