//! Races whose measured times have the models' forecasts beside them.

use corecast_bench::contestant::PLANNED;
use corecast_bench::sized::Task;
use corecast_bench::{Comparison, Role};
use corecast_model::Collective;
use corecast_model::{CostBasis, Machine, MachineFile};
use corecast_plan::Members;
use corecast_wire::ending;

use super::error::ContestError;
use super::plans::Candidate;
use crate::forecast::Forecaster;
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
    /// Costs that were measured for this race; `None` where forecasts are from stored costs, or there are none.
    pub profile: Option<MachineFile>,
}

/// Adds the models' forecasts to the races of a team.
#[derive(Debug)]
pub struct Forecasts {
    /// The models over costs that were measured before.
    stored: Option<Forecaster>,
    /// The machine and the team's threads, where costs are measured before each race.
    fresh: Option<(Machine, Vec<u32>)>,
}

impl Forecasts {
    /// No forecasts.
    pub const fn none() -> Self {
        Self {
            stored: None,
            fresh: None,
        }
    }

    /// Forecasts for `ranks` on `team`, from the costs of `file`; or from costs that are measured before each race,
    /// where `probed` is this machine. There are none where ranks share hardware threads, as no model knows what a
    /// switch of context takes, nor from costs that were not measured.
    ///
    /// # Errors
    ///
    /// The machine cannot be simulated.
    pub fn new(
        file: &MachineFile,
        basis: CostBasis,
        probed: Option<&Machine>,
        team: &Members,
        ranks: usize,
    ) -> Result<Self> {
        let mut threads = team.threads.clone();
        threads.sort_unstable();
        threads.dedup();
        let apart = threads.len() == ranks;
        let here = probed.filter(|_| apart);
        let known = apart && basis == CostBasis::Measured && here.is_none();
        let of_file = || Forecaster::new(file, &team.threads);
        Ok(Self {
            stored: if known { of_file()? } else { None },
            fresh: here.map(|machine| (machine.clone(), team.threads.clone())),
        })
    }

    /// Runs a race, and adds the forecast to the entry of each of its plans. A race during which the machine changes
    /// is repeated.
    ///
    /// # Errors
    ///
    /// The race, a measurement or a model fails.
    pub fn race(
        &self,
        task: Task,
        mut run: impl FnMut() -> Result<(Comparison, Vec<Candidate>)>,
    ) -> Result<Foreseen> {
        let Some((machine, threads)) = &self.fresh else {
            let (mut comparison, candidates) = run()?;
            if let Some(forecaster) = &self.stored {
                add(forecaster, task, &mut comparison, &candidates)?;
            }
            return Ok(Foreseen {
                comparison,
                profile: None,
            });
        };
        let measure = |operations: &[Collective]| measure::now(machine, threads, operations);
        for attempt in 1.. {
            let profile = measure(&[task.operation])?;
            let (mut comparison, candidates) = run()?;
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
            if let Some(forecaster) = Forecaster::new(&profile, threads)? {
                add(&forecaster, task, &mut comparison, &candidates)?;
            }
            return Ok(Foreseen {
                comparison,
                profile: Some(profile),
            });
        }
        unreachable!("the last attempt returns")
    }
}

/// Adds the forecasts to the entries of `candidates`.
fn add(
    forecaster: &Forecaster,
    task: Task,
    comparison: &mut Comparison,
    candidates: &[Candidate],
) -> Result<()> {
    // Operations that run the algorithms of another one are not simulated.
    let collective = task.operation;
    if collective.algorithms_of() != collective {
        return Ok(());
    }
    let planned = PLANNED.contains(&task.operation);
    for candidate in candidates {
        let name = candidate.entrant(planned);
        let mut own = comparison.entries.iter_mut();
        let own = own.find(|entry| entry.role == Role::Corecast && entry.name == name);
        if let Some(entry) = own {
            let (plans, root) = (&candidate.plans, Task::ROOT);
            let found = forecaster.call(collective, plans, root, task.bytes)?;
            entry.forecast = Some(found);
        }
    }
    Ok(())
}
