//! The search for trees of least latency: good ones at once, and better ones with more moves.
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
//! **A search is made of moves, not of time.** Its result depends only on the costs, the start, the
//! seed and the number of moves. A caller with a time limit passes a watcher, which is called every few
//! hundred moves and may end the search; the result is then the best tree so far.

mod anneal;
mod barrier;
mod construct;
mod moves;
mod pairs;
mod progress;
mod soft;
mod state;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::rc::Rc;

use corecast_model::CostModel;

pub(crate) use barrier::improve_both;
pub use barrier::{TwoTrees, improve_barrier};
pub use construct::construct;
pub(crate) use construct::construct_within;
pub use progress::{SearchProgress, SearchWatch};

use crate::cost;
use crate::operation::Operation;
use crate::pace::Pace;
use crate::tree::Tree;

/// The length of a search, and the seed of its random choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of changes that are tried; `u64::MAX` for as many as the watcher allows. A million
    /// takes 0.1 to 0.4 s.
    pub moves: u64,
}

/// Returns a broadcast tree that is at least as good as `start`, with the same root unless that is
/// free.
///
/// The search ends when the latency is at most `lower_bound`, when all moves are made, or when the
/// watcher ends it.
///
/// # Panics
///
/// When tree and model have different numbers of members.
///
/// # Cost
///
/// O(n²) once, to lay out the costs, in teams of up to 1,024 members. A move takes time in proportion to the length of the way to the
/// root and of the lists on it.
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
    let first = latency(start);
    if first <= lower_bound {
        return start.clone();
    }
    let known = SearchProgress {
        latency: first,
        moves: 0,
        rounds: 0,
    };
    let mut ask = || watch(&known);
    let mut pace = Pace::new(&mut ask);
    let mut search = TreeSearch::new(costs, start, free_root, effort.seed, &mut pace);
    if pace.has_ended() {
        return start.clone();
    }
    // The best tree so far is the result in either case, whether the watcher or the moves ended the
    // search.
    let _ = search.run(lower_bound, effort.moves, watch);
    let tree = search.tree();
    // Sums taken in another order differ in their last bits, so the exact latency decides.
    if latency(&tree) < first {
        tree
    } else {
        start.clone()
    }
}

/// A search for a broadcast tree that can be continued.
pub(crate) struct TreeSearch<'a> {
    annealer: anneal::TreeAnnealer<'a>,
}

impl<'a> TreeSearch<'a> {
    /// Begins with a tree, whose root stays unless it is free.
    pub(crate) fn new(
        costs: &'a CostModel,
        start: &Tree,
        free_root: bool,
        seed: u64,
        pace: &mut Pace<'_>,
    ) -> Self {
        let scale = cost::latency(costs, start, Operation::Broadcast);
        let pairs = Rc::new(pairs::PairCosts::of(costs, scale, pace));
        let numa = costs.numa_nodes();
        Self {
            annealer: anneal::TreeAnnealer::new(&pairs, numa, start, free_root, seed),
        }
    }

    /// Goes on for this many moves. The watcher sees the moves of all runs together.
    pub(crate) fn run(
        &mut self,
        lower_bound: f64,
        moves: u64,
        watch: SearchWatch<'_>,
    ) -> ControlFlow<()> {
        self.annealer.bound(lower_bound);
        self.annealer.run(moves, watch)
    }

    /// Takes a tree that was found elsewhere, with the same root unless that is free, if it is better.
    pub(crate) fn offer(&mut self, tree: &Tree) {
        self.annealer.offer(tree);
    }

    /// Returns the moves of all runs together.
    pub(crate) fn moves(&self) -> u64 {
        self.annealer.moves()
    }

    /// Returns the best tree so far.
    pub(crate) fn tree(&mut self) -> Tree {
        self.annealer.tree()
    }
}
