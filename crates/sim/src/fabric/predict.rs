//! Predicts the time of one call, in a team that has run for a while.

use super::{SimFabric, SimTeam};
use crate::drive::Job;
use crate::engine::{RunOptions, ServerUse, SimError, run};
use crate::machine::SimMachine;
use crate::memory::Counts;
use crate::trace::Trace;
use crate::{ticks, units};
use std::rc::Rc;

/// The circumstances of a simulated call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSetting {
    /// Calls before the measured one. They fill the caches and allocate lines.
    pub warm_up: usize,
    /// The greatest random delay of a rank, in units of the machine.
    pub skew: f64,
    /// The time of each rank before its first operation, in units of the machine.
    pub entry: f64,
    /// Random numbers, timelines, checks and limits.
    pub options: RunOptions,
}

impl Default for CallSetting {
    fn default() -> Self {
        Self {
            warm_up: 1,
            skew: 0.0,
            entry: 0.0,
            options: RunOptions::default(),
        }
    }
}

/// The prediction of a call.
#[derive(Clone, Debug)]
pub struct CallPrediction {
    /// The time from the start, which all ranks share, to the end of the last rank, in units of the
    /// machine.
    pub latency: f64,
    /// The time from the start to the end of each rank.
    pub ends: Vec<f64>,
    /// The delay with which each rank begins.
    pub begins: Vec<f64>,
    /// The counters of transfers, invalidations and other events.
    pub counts: Counts,
    /// The load of each server.
    pub servers: Vec<ServerUse>,
    /// The timeline, if it was requested.
    pub trace: Trace,
}

impl CallPrediction {
    /// The longest time of a rank from its own begin to its end.
    pub fn longest(&self) -> f64 {
        let took = self.ends.iter().zip(&self.begins);
        took.map(|(end, begin)| end - begin).fold(0.0, f64::max)
    }
}

/// Runs the call of `job` with rank r on core `cores[r]` of `machine`, and checks its results.
///
/// # Errors
///
/// Those of [`run`].
///
/// # Panics
///
/// If the results differ from those of a loop over all ranks, because then an algorithm is wrong.
///
/// # Examples
///
/// ```
/// use corecast_collectives::Plans;
/// use corecast_plan::Pattern;
/// use corecast_sim::drive::{Call, Collective, Job};
/// use corecast_sim::fabric::{CallSetting, predict};
/// use corecast_sim::machine::known;
///
/// let costs = corecast_model::synthetic("core:16").unwrap();
/// let plans = Plans::of_pattern(costs.costs(), Pattern::Binomial, Some(0))?;
/// let job = Job::new(&Call::new(Collective::Broadcast, "messages", 0, 8)?, &plans)?;
/// let cores: Vec<usize> = (0..16).collect();
/// let prediction = predict(&known::mesh(4, 4), &cores, &job, &CallSetting::default())?;
/// assert!(prediction.latency > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn predict(
    machine: &SimMachine,
    cores: &[usize],
    job: &Job,
    setting: &CallSetting,
) -> Result<CallPrediction, SimError> {
    assert_eq!(job.ranks(), cores.len(), "a core for each rank");
    let (team, combine_bytes) = (
        SimTeam::new(cores, job.groups()),
        machine.costs.combine_bytes,
    );
    let (n, warm_up) = (cores.len(), setting.warm_up);
    let (skew, entry) = (ticks(setting.skew), ticks(setting.entry));
    let shared = Rc::new(job.clone());
    let body = move |cpu: &mut crate::engine::Cpu<'_>, (): &()| {
        let mut context = shared.context(SimFabric::new(cpu, &team, combine_bytes));
        let combine = context.fabric.combine();
        for _ in 0..warm_up {
            context.fabric.begin();
            let Ok(_) = shared.run(&mut context, &combine);
        }
        context.fabric.begin_measure(n);
        let start = context.fabric.cpu().time();
        let late = context.fabric.cpu().chance(skew);
        context.fabric.cpu().pass(late + entry);
        context.fabric.begin();
        let Ok(result) = shared.run(&mut context, &combine);
        let mut fabric = context.fabric;
        fabric.catch_up();
        (result, units(late), units(fabric.cpu().time() - start))
    };
    let outcome = run(machine, cores, &setting.options, |_| (), body)?;
    let reference = job.reference();
    for (rank, (result, ..)) in outcome.results.iter().enumerate() {
        let expected = reference.expected(rank);
        assert!(expected == &result[..], "rank {rank} of {}", job.call());
    }
    let begins = outcome.results.iter().map(|(_, begin, _)| *begin).collect();
    let ends: Vec<f64> = outcome.results.iter().map(|(.., end)| *end).collect();
    Ok(CallPrediction {
        latency: ends.iter().copied().fold(0.0, f64::max),
        ends,
        begins,
        counts: outcome.counts,
        servers: outcome.servers,
        trace: outcome.trace,
    })
}
