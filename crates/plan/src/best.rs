//! Patterns `best` and `optimal`: search and proof take turns until they meet.
//!
//! ```text
//! construct ──► improve ──► prove ──► improve, longer ──► prove, longer ──► ...
//!                  │ latency   │ lower bound, sometimes a better tree
//!                  └────►◄─────┘ equal: optimal
//! ```
//!
//! Where costs say what lines cost that several members share ([`CostModel::lines`]), trees with
//! groups are searched too, in `grouped`: for broadcasts and barriers, since a reduction shares no
//! lines. The bound is then [`crate::groups::lower_bound`], of all trees with and without groups.
//!
//! **Deterministic.** The result depends on the costs, the operation, the root, the seed and the
//! number of moves alone. Whoever has a time limit gives a watcher, which may end the search at any
//! time; the best plan so far is the result then, with the bound that was proved so far.

mod barrier;
mod found;
mod grouped;
mod rounds;
mod trees;
mod way;

use corecast_model::CostModel;

use crate::operation::Operation;
use crate::pattern::Pattern;
use crate::search::Effort;
use found::FoundSchedule;
use rounds::SearchRounds;

pub use crate::progress::{Progress, Stage, Watch};

impl Default for Effort {
    /// Some tens of milliseconds.
    fn default() -> Self {
        Self {
            seed: 1,
            moves: 100_000,
        }
    }
}

/// The best plan's schedule, and the bound that was proved for it.
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
