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
#[cfg(test)]
mod tests;
mod trees;
mod way;

use std::ops::ControlFlow;

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
    let mut watched = Watched::new(watch);
    let watch = &mut |progress: &Progress| watched.look(progress);
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

/// Passes progress to a watcher. Once the watcher has ended the search it is not asked again, and what
/// it sees only gets better, although a phase may begin with a worse tree or with a search of its own.
struct Watched<'a> {
    watch: Watch<'a>,
    has_ended: bool,
    seen: Option<Progress>,
}

impl<'a> Watched<'a> {
    fn new(watch: Watch<'a>) -> Self {
        Self {
            watch,
            has_ended: false,
            seen: None,
        }
    }

    fn look(&mut self, progress: &Progress) -> ControlFlow<()> {
        if !self.has_ended {
            let seen = self.seen.unwrap_or(*progress);
            let progress = Progress {
                latency: progress.latency.min(seen.latency),
                lower_bound: progress.lower_bound.max(seen.lower_bound),
                moves: progress.moves.max(seen.moves),
                ..*progress
            };
            self.seen = Some(progress);
            self.has_ended = (self.watch)(&progress).is_break();
        }
        match self.has_ended {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
