//! What is known of an algorithm before anything is raced.

use corecast_bench::sized::Operation;
use corecast_collectives::Plans;

pub use crate::simulated::Simulated;

/// Tells what an algorithm would take.
pub trait Predict {
    /// Nanoseconds of `operation` over `plans` by `algorithm`, with blocks of `bytes`, from or to rank 0; `None`
    /// where that cannot be told.
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
