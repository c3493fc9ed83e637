//! Races with what models of the machine say beside them.

use corecast_bench::sized::{Operation, Task};
use corecast_bench::{Comparison, Role};
use corecast_model::{CostBasis, Machine, MachineFile};
use corecast_plan::Members;

use super::error::ContestError;
use super::plans::Candidate;
use super::sized;
use crate::forecast::Forecaster;
use crate::measure;

type Result<T> = std::result::Result<T, ContestError>;

/// How far a message may take longer or shorter after a race than before it.
const STEADY: f64 = 0.15;

/// Times that a race is run during which the machine changes.
const ATTEMPTS: usize = 4;

/// A finished race.
#[derive(Debug)]
pub struct Foreseen {
    /// The times.
    pub comparison: Comparison,
    /// What was measured for this race.
    pub profile: Option<MachineFile>,
}

/// What the models know of the team.
#[derive(Debug)]
pub struct Forecasts {
    /// From costs that were measured before.
    stored: Option<Forecaster>,
    /// Where costs are measured before each race: the machine and its threads.
    fresh: Option<(Machine, Vec<u32>)>,
}

impl Forecasts {
    /// Of `ranks` on `team`, by the costs of `file`; or by costs that are measured before each race, where
    /// `probed` is this machine. Where ranks share hardware threads no model knows what a switch of context takes,
    /// and costs that nobody has measured foretell nothing.
    ///
    /// # Errors
    ///
    /// A machine that cannot be simulated.
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

    /// Runs a race, and adds to each of its plans what the models say.
    ///
    /// # Errors
    ///
    /// A race, a measurement or a model that fails.
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
        let measure = |operations: &[Operation]| measure::now(machine, threads, operations);
        for attempt in 1.. {
            let profile = measure(&[task.operation])?;
            let (mut comparison, candidates) = run()?;
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

/// Adds what the models say to the entries of `candidates`.
fn add(
    forecaster: &Forecaster,
    task: Task,
    comparison: &mut Comparison,
    candidates: &[Candidate],
) -> Result<()> {
    // Forms of others have none of their own.
    let Ok(collective) = task.operation.name().parse() else {
        return Ok(());
    };
    let planned = sized::collective(task.operation).is_some();
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
