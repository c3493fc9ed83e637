//! What the models of this machine say that an algorithm takes.

use corecast_bench::Forecast;
use corecast_collectives::Plans;
use corecast_model::{Collective, CostBasis, MachineFile};
use corecast_tune::forecast::Forecaster;
use corecast_tune::predict::{Predict, Simulated};

/// The simulated machine with a team on `threads`, from the costs of `file`.
///
/// # Errors
///
/// Why there is none.
pub(crate) fn simulated(
    file: &MachineFile,
    costs: CostBasis,
    (threads, pinned, oversubscribed): (&[u32], bool, bool),
) -> Result<Simulated, String> {
    match (oversubscribed, pinned, costs) {
        (true, ..) => Err("ranks share hardware threads, of which no model knows".to_owned()),
        (_, false, _) => Err("threads that are not pinned have no place in a model".to_owned()),
        (.., CostBasis::Measured) => Simulated::new(file, threads),
        _ => Err("nothing was measured here yet, see corecast probe".to_owned()),
    }
}

/// The models of a team whose ranks are threads.
#[derive(Debug)]
pub(crate) struct Models {
    simulated: Simulated,
    bounds: Option<Forecaster>,
}

impl Models {
    /// The models of a team on `threads`, from the costs of `file`.
    ///
    /// # Errors
    ///
    /// Why there are none.
    pub(crate) fn of_team(
        file: &MachineFile,
        costs: CostBasis,
        (threads, pinned, oversubscribed): (&[u32], bool, bool),
    ) -> Result<Self, String> {
        Ok(Self {
            simulated: simulated(file, costs, (threads, pinned, oversubscribed))?,
            bounds: Forecaster::new(file, threads).ok().flatten(),
        })
    }

    /// The forecast of one algorithm over `plans`, with blocks of `bytes`, from or to rank 0; `None` where the models do
    /// not know it. Bounds take time by the square of the transfers, and are computed if `bounded`.
    pub(crate) fn of(
        &self,
        operation: Collective,
        algorithm: &str,
        plans: &Plans,
        bytes: usize,
        bounded: bool,
    ) -> Option<Forecast> {
        let simulated_ns = self.simulated.predict(operation, algorithm, plans, bytes)?;
        let bounds = self.bounds.as_ref().filter(|_| bounded);
        let bounds = bounds.and_then(|bounds| bounds.bounds(operation, algorithm, plans, bytes));
        Some(Forecast {
            t_min_ns: bounds.map(|bounds| bounds.0),
            t_max_ns: bounds.and_then(|bounds| bounds.1),
            simulated_ns,
        })
    }
}
