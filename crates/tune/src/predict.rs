//! Predictions of an algorithm's time, made before it races.

use corecast_collectives::Plans;
use corecast_model::Collective;

pub use crate::simulated::Simulated;

/// A model that predicts the time of an algorithm.
pub trait Predict {
    /// Time in nanoseconds of `operation` over `plans` by `algorithm`, with blocks of `bytes`, from or to rank 0;
    /// `None` where the model has no prediction.
    fn predict(
        &self,
        operation: Collective,
        algorithm: &str,
        plans: &Plans,
        bytes: usize,
    ) -> Option<f64>;
}

/// A model without predictions.
#[derive(Clone, Copy, Debug)]
pub struct Unknown;

impl Predict for Unknown {
    fn predict(&self, _: Collective, _: &str, _: &Plans, _: usize) -> Option<f64> {
        None
    }
}
