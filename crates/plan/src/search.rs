//! The search for trees of least latency: the best known ones at once, and better ones with time.
//!
//! ```text
//! construct ──► improve ──► Tree           one tree: a broadcast, or a reduction on mirrored costs
//!    │             │
//!    └─────────────┴── improve_barrier ──► two trees with one root
//! ```
//!
//! Everything here is a broadcast. A reduction is one on [`CostModel::mirrored`], and its tree is
//! [`Tree::reversed`] afterwards.
//!
//! **A search is made of moves, not of time.** Its result depends on the costs, the start, the seed
//! and the number of moves alone. Whoever has a time limit gives a watcher, which is asked every
//! few hundred moves and may end the search; the best tree so far is the result then.

mod anneal;
mod barrier;
mod construct;
mod moves;
mod progress;
pub(crate) mod random;
mod soft;
mod state;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::rc::Rc;

use corecast_model::CostModel;

pub use barrier::{TwoTrees, improve_barrier};
pub use construct::construct;
pub use progress::{SearchProgress, SearchWatch};

use crate::cost;
use crate::operation::Operation;
use crate::tree::Tree;

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Decides all choices that are left to chance.
    pub seed: u64,
    /// Changes that are tried; `u64::MAX` for as many as the watcher allows. A million takes 0.1 to
    /// 0.4 s.
    pub moves: u64,
}

/// A broadcast tree that is at least as good as `start`, with the same root unless that is free.
///
/// Ends when the latency is at most `lower_bound`, when all moves are done, or when the watcher
/// says so.
///
/// # Panics
///
/// When tree and model have different numbers of members.
///
/// # Cost
///
/// O(n²) once, to lay out the costs; a move costs the way to the root, times the length of the
/// lists on it.
///
/// # Examples
///
/// ```
/// use std::ops::ControlFlow;
/// use corecast_plan::search::{Effort, construct, improve};
/// use corecast_plan::{Operation, Tree, cost};
///
/// let machine = corecast_model::builtin("sandybridge-2x8").unwrap();
/// let start = construct(machine.costs(), Some(0));
/// let effort = Effort { seed: 1, moves: 20_000 };
/// let tree = improve(machine.costs(), &start, false, 0.0, effort, &mut |_| ControlFlow::Continue(()));
/// let latency = |tree: &Tree| cost::latency(machine.costs(), tree, Operation::Broadcast);
/// assert!(latency(&tree) <= latency(&start));
/// ```
#[must_use]
pub fn improve(
    costs: &CostModel,
    start: &Tree,
    free_root: bool,
    lower_bound: f64,
    effort: Effort,
    watch: SearchWatch<'_>,
) -> Tree {
    assert_eq!(
        costs.n(),
        start.len(),
        "the tree and the cost model are of different teams"
    );
    let latency = |tree: &Tree| cost::latency(costs, tree, Operation::Broadcast);
    let mut search = TreeSearch::new(costs, start, free_root, effort.seed);
    // Whether the watcher ended it or the moves did, the best so far is the result.
    let _ = search.run(lower_bound, effort.moves, watch);
    let tree = search.tree();
    // Sums taken in another order differ in their last bits.
    if latency(&tree) < latency(start) {
        tree
    } else {
        start.clone()
    }
}

/// A search for a broadcast tree that can be continued.
pub(crate) struct TreeSearch {
    annealer: anneal::TreeAnnealer,
}

impl TreeSearch {
    /// Begins with a tree, whose root stays unless it is free.
    pub(crate) fn new(costs: &CostModel, start: &Tree, free_root: bool, seed: u64) -> Self {
        let scale = cost::latency(costs, start, Operation::Broadcast);
        let pairs = Rc::new(state::PairCosts::of(costs, scale));
        let numa = costs.numa_nodes();
        Self {
            annealer: anneal::TreeAnnealer::new(&pairs, numa, start, free_root, seed),
        }
    }

    /// Goes on for so many moves. The watcher sees the moves of all runs together.
    pub(crate) fn run(
        &mut self,
        lower_bound: f64,
        moves: u64,
        watch: SearchWatch<'_>,
    ) -> ControlFlow<()> {
        self.annealer.bound(lower_bound);
        self.annealer.run(moves, watch)
    }

    /// A tree that was found elsewhere, with the same root unless that is free; it is taken if it is
    /// better.
    pub(crate) fn offer(&mut self, tree: &Tree) {
        self.annealer.offer(tree);
    }

    /// Moves of all runs together.
    pub(crate) fn moves(&self) -> u64 {
        self.annealer.moves()
    }

    /// The best tree so far.
    pub(crate) fn tree(&mut self) -> Tree {
        self.annealer.tree()
    }
}
