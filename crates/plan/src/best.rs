//! Patterns `best` and `optimal`: search and proof alternate until the latency equals the bound.
//!
//! ```text
//! construct ──► improve ──► prove ──► improve, longer ──► prove, longer ──► ...
//!                  │ latency   │ lower bound, sometimes a better tree
//!                  └────►◄─────┘ equal: optimal
//! ```
//!
//! Where the cost model has costs of lines that several members share ([`CostModel::lines`]),
//! `grouped` also searches trees with groups. It does so for broadcasts and barriers only, since a
//! reduction shares no lines. The bound is then [`crate::groups::lower_bound`], which holds for all
//! trees with and without groups.
//!
//! **Deterministic.** The result depends only on the costs, the operation, the root, the seed and
//! the number of moves. A caller with a time limit passes a watcher, which may end the search at
//! any time; the result is then the best plan so far, with the bound proved so far.

mod barrier;
mod grouped;
mod trees;
mod way;

use corecast_model::CostModel;

use crate::operation::Operation;
use crate::pattern::Pattern;
use crate::search::Effort;
use way::{FoundSchedule, SearchRounds};

pub use crate::progress::{Progress, Stage, Watch};

impl Default for Effort {
    /// The default takes some tens of milliseconds.
    fn default() -> Self {
        Self {
            seed: 1,
            moves: 100_000,
        }
    }
}

/// Returns the schedule of the best plan found, and the bound that was proved for it.
pub(crate) fn search(
    costs: &CostModel,
    pattern: Pattern,
    operation: Operation,
    root: Option<usize>,
    effort: Effort,
    watch: Watch<'_>,
) -> FoundSchedule {
    if costs.lines().is_some() && operation != Operation::Reduce {
        return grouped::search(costs, operation, root, effort, watch);
    }
    trees::trees(
        costs,
        operation,
        root,
        &mut SearchRounds::new(pattern, effort),
        watch,
    )
}
