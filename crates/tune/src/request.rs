//! What a user asks a tuning for: operations, sizes, and how much time there is.

use crate::racer::Synchrony;
use crate::sequential_test::Rules;
use corecast_bench::sized::Operation;
use std::time::Duration;

/// What is to be tuned.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneRequest {
    /// Which operations.
    pub operations: Vec<Operation>,
    /// Sizes in bytes of a block, multiples of 8; barriers have none.
    pub sizes: Vec<usize>,
    /// How operations are kept apart.
    pub synchrony: Synchrony,
    /// Contenders of a race at most, where the model tells them apart: with blocks of up to
    /// [`SHORT_BYTES_MAX`](crate::candidates::SHORT_BYTES_MAX).
    pub most: usize,
    /// Time for everything.
    pub budget: Duration,
    /// When a race is over.
    pub rules: Rules,
}

/// Sizes unless others are asked for.
pub const SIZES: [usize; 8] = [8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20];

/// Time for a tuning unless another one is asked for: with what comes before and after it stays under a minute.
pub const BUDGET: Duration = Duration::from_secs(50);

impl Default for TuneRequest {
    fn default() -> Self {
        Self {
            operations: Operation::CHOSEN.into(),
            sizes: SIZES.into(),
            synchrony: Synchrony::Strict,
            most: 8,
            budget: BUDGET,
            rules: Rules::default(),
        }
    }
}
