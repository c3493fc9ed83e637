//! The search for trees with groups, whose members share lines.
//!
//! ```text
//! trees, improved ──► groups ──► groups, longer ──► ... until bound or end of the moves
//! ```
//!
//! Trees without groups come first, because a message is the smallest group there is. Nothing is
//! proved about them: the bound of [`crate::groups`] is one on all trees, with groups and without.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::trees::trees;
use super::way::{self, FoundSchedule, SearchRound, SearchRounds};
use crate::groups::{self, TwoWays};
use crate::operation::Operation;
use crate::progress::{Progress, Stage, Watch};
use crate::search::{self, Effort};
use crate::shape::Shape;
use crate::tree::Tree;

/// Trees without groups get a quarter of the moves, and at most [`TREES_MAX`] of them: beyond that,
/// moves with groups gain more.
const TREES_SHARE: u64 = 4;
const TREES_MAX: u64 = 50_000;
/// A move of a tree with groups takes as long as this many moves of a tree without.
const MOVES_PER_MOVE: u64 = 8;
/// Length of the first round with groups, in moves of trees without: its starts alone take that
/// long.
const FIRST_ROUND: u64 = 16_000;

/// Passes progress to a watcher. Once the watcher has ended the search it stays ended, and the
/// moves that it sees never decrease, although trees may take a few more than their share.
struct Watched<'a> {
    watch: Watch<'a>,
    stopped: bool,
    lower_bound: f64,
    moves: u64,
}

impl Watched<'_> {
    fn look(&mut self, progress: &Progress) -> ControlFlow<()> {
        if !self.stopped {
            self.moves = self.moves.max(progress.moves);
            let progress = Progress {
                lower_bound: self.lower_bound,
                moves: self.moves,
                ..*progress
            };
            self.stopped = (self.watch)(&progress).is_break();
        }
        match self.stopped {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Returns the best broadcast or barrier that moves find, with the bound on all trees with groups.
pub(super) fn search(
    costs: &CostModel,
    operation: Operation,
    root: Option<usize>,
    effort: Effort,
    watch: Watch<'_>,
) -> FoundSchedule {
    let lower_bound = groups::lower_bound(costs, operation, root);
    let mut watched = Watched {
        watch,
        stopped: false,
        lower_bound,
        moves: 0,
    };
    let first = Effort {
        moves: (effort.moves / TREES_SHARE).min(TREES_MAX),
        ..effort
    };
    let mut rounds = SearchRounds::without_proof(first, way::FIRST_ROUND);
    let found = trees(costs, operation, root, &mut rounds, &mut |p| {
        watched.look(p)
    });
    let start = FirstTrees {
        costs,
        operation,
        free_root: root.is_none(),
        lower_bound,
        shape: found.shape,
    };
    let mut best = (start.shape.latency(costs, operation), start.shape.clone());
    let mut spent = first.moves;
    let mut rounds = SearchRounds::without_proof(effort, FIRST_ROUND);
    // The starts are costed even where no move is left.
    let mut next = rounds.next(spent).or(Some(SearchRound::none(effort.seed)));
    while let Some(mut round) = next {
        if watched.stopped {
            round.moves = 0;
        }
        let known = best.0;
        let shape = start.improve(round, &mut |moves| {
            watched.look(&Progress {
                stage: Stage::Improve,
                latency: known,
                lower_bound,
                moves: spent + moves * MOVES_PER_MOVE,
            })
        });
        spent += round.moves;
        let latency = shape.latency(costs, operation);
        if latency < best.0 {
            best = (latency, shape);
        }
        if watched.stopped || best.0 <= lower_bound {
            break;
        }
        next = rounds.next(spent);
    }
    FoundSchedule {
        shape: best.1,
        lower_bound,
    }
}

/// The trees without groups from which every round starts.
struct FirstTrees<'a> {
    costs: &'a CostModel,
    operation: Operation,
    free_root: bool,
    lower_bound: f64,
    shape: Shape,
}

impl FirstTrees<'_> {
    /// Runs one search from the trees; `watch` is called with the number of its moves.
    fn improve(&self, round: SearchRound, watch: &mut dyn FnMut(u64) -> ControlFlow<()>) -> Shape {
        // A barrier consists of several searches, each of which counts its moves from 0.
        let (mut before, mut last) = (0, 0);
        let look = &mut |progress: &search::SearchProgress| {
            if progress.moves < last {
                before += last;
            }
            last = progress.moves;
            watch(before + last)
        };
        let effort = Effort {
            seed: round.seed,
            moves: round.moves / MOVES_PER_MOVE,
        };
        let (costs, operation, free) = (self.costs, self.operation, self.free_root);
        let both = |fan_in: &Tree, fan_out: &Tree, look: search::SearchWatch<'_>| {
            let bound = self.lower_bound;
            groups::search_barrier(costs, free, fan_in, fan_out, bound, effort, look)
        };
        let TwoWays { fan_in, fan_out } = match (&self.shape, operation) {
            (Shape::Tree(tree), Operation::Barrier) => both(&tree.reversed(), tree, look),
            (Shape::Trees { fan_in, fan_out }, _) => both(fan_in, fan_out, look),
            (Shape::Tree(tree), _) => {
                let bound = self.lower_bound;
                let found = groups::search(costs, operation, free, tree, bound, effort, look);
                return Shape::of_groups(found);
            }
            _ => unreachable!("a search for trees finds trees"),
        };
        Shape::of_grouped_trees(fan_in, fan_out)
    }
}
