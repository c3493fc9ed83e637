//! Predictions of an algorithm's time, made before it races.

use corecast_bench::sized::Operation;
use corecast_collectives::Plans;

pub use crate::simulated::Simulated;

/// A model that predicts the time of an algorithm.
pub trait Predict {
    /// Time in nanoseconds of `operation` over `plans` by `algorithm`, with blocks of `bytes`, from or to rank 0;
    /// `None` where the model has no prediction.
    fn predict(
        &self,
        operation: Operation,
        algorithm: &str,
        plans: &Plans,
        bytes: usize,
    ) -> Option<f64>;
}

/// A model without predictions.
#[derive(Clone, Copy, Debug)]
pub struct Unknown;

impl Predict for Unknown {
    fn predict(&self, _: Operation, _: &str, _: &Plans, _: usize) -> Option<f64> {
        None
    }
}
