//! Patterns `best` and `optimal`: search and proof take turns until they meet.
//!
//! ```text
//! construct ──► improve ──► prove ──► improve, longer ──► prove, longer ──► ...
//!                  │ latency   │ lower bound, sometimes a better tree
//!                  └────►◄─────┘ equal: optimal
//! ```
//!
//! **Deterministic.** The result depends on the costs, the operation, the root, the seed and the
//! number of moves alone. Whoever has a time limit gives a watcher, which may end the search at any
//! time; the best plan so far is the result then, with the bound that was proved so far.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use crate::bound;
use crate::cost;
use crate::operation::Operation;
use crate::search::{self, Effort, TwoTrees};
use crate::tree::Tree;

impl Default for Effort {
    /// Some tens of milliseconds.
    fn default() -> Self {
        Self {
            seed: 1,
            moves: 100_000,
        }
    }
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Better trees are looked for.
    Improve,
    /// It is proved that there are none.
    Prove,
}

/// What a watcher sees.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// The latency of the best plan so far, in the model's unit.
    pub latency: f64,
    /// No plan is faster than this.
    pub lower_bound: f64,
    /// Moves so far; the work of proofs is counted as the moves that take as long.
    pub moves: u64,
}

/// Looks at a search several times a millisecond, and may end it.
pub type Watch<'a> = &'a mut dyn FnMut(&Progress) -> ControlFlow<()>;

/// What a search for one operation found.
pub(crate) enum Found {
    Tree(Tree),
    Trees { fan_in: Tree, fan_out: Tree },
}

/// The best plan's schedule, and the bound that was proved for it.
pub(crate) fn search(
    costs: &CostModel,
    operation: Operation,
    root: Option<usize>,
    effort: Effort,
    watch: Watch<'_>,
) -> (Found, f64) {
    let lower_bound = bound::lower_bound(costs, operation, root);
    let mut seen = |latency: f64, moves: u64| {
        watch(&Progress {
            stage: Stage::Improve,
            latency,
            lower_bound,
            moves,
        })
    };
    match operation {
        Operation::Barrier => {
            let TwoTrees {
                inward, outward, ..
            } = search::improve_barrier(costs, root, lower_bound, effort, &mut |p| {
                seen(p.latency, p.moves)
            });
            let found = Found::Trees {
                fan_in: inward,
                fan_out: outward,
            };
            (found, lower_bound)
        }
        Operation::Broadcast => {
            let start = search::construct(costs, root);
            let tree = search::improve(
                costs,
                &start,
                root.is_none(),
                lower_bound,
                effort,
                &mut |p| seen(p.latency, p.moves),
            );
            (Found::Tree(tree), lower_bound)
        }
        Operation::Reduce => {
            let mirrored = costs.mirrored();
            let start = search::construct(&mirrored, root);
            let tree = search::improve(
                &mirrored,
                &start,
                root.is_none(),
                lower_bound,
                effort,
                &mut |p| seen(p.latency, p.moves),
            );
            debug_assert!(cost::latency(&mirrored, &tree, Operation::Broadcast) >= 0.0);
            (Found::Tree(tree.reversed()), lower_bound)
        }
    }
}
