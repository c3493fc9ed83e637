//! Forecasts of a call's time: bounds of the symbolic model, and the time on the simulated machine.

use corecast_bench::Forecast;
use corecast_collectives::{BarrierPlan, Plans, PlansError};
use corecast_model::{CostModel, MachineFile};
use corecast_plan::{Operation, Plan, Shape};
use corecast_sim::drive::{Call, CallError, Collective, Job, usual};
use corecast_sim::engine::SimError;
use corecast_sim::fabric::{CallSetting, predict};
use corecast_sim::machine::pairs;
use corecast_sim::measured::MeasuredMachine;
use corecast_sim::symbolic::{Bounds, OnParts, record_job};
use thiserror::Error;

use crate::modelled::Modelled;

/// Why there is no forecast of a call.
#[derive(Debug, Error)]
pub enum ForecastError {
    /// The machine cannot be simulated.
    #[error("{0}")]
    Machine(String),
    /// The collective has no such algorithm, or these ranks cannot run it.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The simulated machine cannot run the call.
    #[error(transparent)]
    Simulated(#[from] SimError),
    /// The plans do not belong together.
    #[error(transparent)]
    Plans(#[from] PlansError),
    /// There are more data than are simulated.
    #[error(
        "--size {size}: the data of {ranks} ranks are beyond the {most} bytes that are simulated"
    )]
    TooLong {
        /// Bytes of a block.
        size: usize,
        /// Members of the team.
        ranks: usize,
        /// The most bytes of all ranks together that are simulated.
        most: usize,
    },
}

/// A team on its machine, as the models see it.
#[derive(Debug)]
pub struct Forecaster {
    /// The machine with measured messages; `None` where messages that come alone were not measured.
    measured: Option<MeasuredMachine>,
    name: String,
    costs: CostModel,
}

impl Forecaster {
    /// A forecaster for ranks on `threads`, each on its own; `None` where there are too many ranks, or a thread has no
    /// costs.
    ///
    /// # Errors
    ///
    /// The machine cannot be simulated.
    pub fn new(file: &MachineFile, threads: &[u32]) -> Result<Option<Self>, ForecastError> {
        let team = Modelled::new(file, threads).map_err(ForecastError::Machine)?;
        Ok(team.map(|team| Self {
            measured: team.measured,
            name: file.machine().name.clone(),
            costs: team.costs,
        }))
    }

    /// Forecasts one call over `plans` with blocks of `size` bytes.
    ///
    /// # Errors
    ///
    /// These ranks cannot do the call.
    pub fn call(
        &self,
        collective: Collective,
        plans: &Plans,
        root: usize,
        size: usize,
    ) -> Result<Forecast, ForecastError> {
        let job = job(collective, None, plans, Some(root), size)?;
        let cores: Vec<usize> = (0..self.costs.n()).collect();
        let bounds = self.bounds_of(&job)?;
        let simulated = match &self.measured {
            Some(measured) => measured.latency(&cores, &job)?,
            None => {
                let machine = pairs::machine(&self.name, &self.costs);
                predict(&machine, &cores, &job, &CallSetting::default())?.latency
            }
        };
        Ok(Forecast {
            t_min_ns: bounds.map(|bounds| bounds.t_min),
            t_max_ns: bounds.and_then(Bounds::finite_t_max),
            simulated_ns: simulated,
        })
    }

    fn bounds_of(&self, job: &Job) -> Result<Option<Bounds>, ForecastError> {
        if let Some(measured) = &self.measured {
            return Ok(measured.bounds(job));
        }
        let machine = pairs::machine(&self.name, &self.costs);
        let cores: Vec<usize> = (0..self.costs.n()).collect();
        let graph = record_job(job).ok();
        let bounds = graph.map(|graph| OnParts::new(&machine, &cores).bounds(&graph));
        Ok(bounds.transpose()?)
    }

    /// Lower and upper bound of one algorithm's time in nanoseconds. There may be no upper bound; `None` where there
    /// are no bounds.
    pub fn bounds(
        &self,
        collective: Collective,
        algorithm: &str,
        plans: &Plans,
        size: usize,
    ) -> Option<(f64, Option<f64>)> {
        let job = job(collective, Some(algorithm), plans, Some(0), size).ok()?;
        let bounds = self.bounds_of(&job).ok()??;
        Some((bounds.t_min, bounds.finite_t_max()))
    }

    /// Forecasts a plan, with `size` bytes where it carries data; `None` where its members share lines, whose costs
    /// are not measured.
    ///
    /// # Errors
    ///
    /// These ranks cannot do the call.
    pub fn plan(&self, plan: &Plan, size: usize) -> Result<Option<Forecast>, ForecastError> {
        let plans = match &plan.shape {
            Shape::Tree(tree) => Plans::of_tree(tree),
            Shape::Trees { fan_out, .. } => {
                Plans::of_tree(fan_out).with_barrier(BarrierPlan::of_plan(plan)?)?
            }
            Shape::Rounds(_) => {
                let any = corecast_plan::patterns::knomial(self.costs.n(), 0, 2);
                Plans::of_tree(&any).with_barrier(BarrierPlan::of_plan(plan)?)?
            }
            _ => return Ok(None),
        };
        let size = match plan.operation {
            Operation::Barrier => 0,
            _ => size,
        };
        self.call(plan.operation.into(), &plans, plan.root, size)
            .map(Some)
    }
}

/// The job of the simulator that runs `collective` over these plans, with blocks of `size` bytes.
///
/// # Errors
///
/// The collective does not have the algorithm, these ranks cannot run it, or there are more data than are simulated.
pub fn job(
    collective: Collective,
    algorithm: Option<&str>,
    plans: &Plans,
    root: Option<usize>,
    size: usize,
) -> Result<Job, ForecastError> {
    let bytes = bytes(collective, size, plans.len())?;
    let algorithm = algorithm.unwrap_or_else(|| usual(collective, plans, size));
    let root = root.unwrap_or(plans.broadcast().root());
    let call = Call::new(collective, algorithm, root, bytes)?;
    Ok(Job::new(&call, plans)?)
}

/// Bytes that a rank contributes, or the root of a scatter for all ranks, with blocks of `size` bytes.
fn bytes(collective: Collective, size: usize, ranks: usize) -> Result<usize, ForecastError> {
    let most = 1 << 30;
    let bytes = size
        .checked_mul(collective.blocks(ranks))
        .filter(|bytes| bytes.checked_mul(ranks).is_some_and(|all| all <= most));
    bytes.ok_or(ForecastError::TooLong { size, ranks, most })
}
