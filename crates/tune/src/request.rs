//! The request of a tuning: operations, sizes, and time.

use crate::sequential_test::Rules;
use corecast_model::Collective;
use corecast_model::profile::Start;
use std::time::Duration;

/// The request of a tuning.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneRequest {
    /// The operations to tune.
    pub operations: Vec<Collective>,
    /// Sizes in bytes of a block, multiples of 8; barriers have none.
    pub sizes: Vec<usize>,
    /// Whether all ranks begin each timed operation together.
    pub start: Start,
    /// The most contenders of a race with blocks of up to
    /// [`SHORT_BYTES_MAX`](crate::candidates::SHORT_BYTES_MAX), which the model can rank.
    pub most: usize,
    /// Time for everything.
    pub budget: Duration,
    /// The rules that end a race.
    pub rules: Rules,
}

/// The default sizes, in bytes of a block. Two of them lie close together: up to 8 KiB data fit a message, so algorithms change
/// places around 16 KiB.
pub const SIZES: [usize; 9] = [
    8,
    64,
    512,
    4 << 10,
    16 << 10,
    32 << 10,
    256 << 10,
    1 << 20,
    4 << 20,
];

/// The default time for a tuning: together with the work before and after it, a command stays under a minute.
pub const BUDGET: Duration = Duration::from_secs(50);

impl Default for TuneRequest {
    fn default() -> Self {
        Self {
            operations: Collective::WITH_ALGORITHMS.into(),
            sizes: SIZES.into(),
            start: Start::Together,
            most: 8,
            budget: BUDGET,
            rules: Rules::default(),
        }
    }
}
