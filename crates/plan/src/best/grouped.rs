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
use crate::first;
use crate::groups::{self, Grouped, TwoWays};
use crate::operation::Operation;
use crate::pace;
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

/// Returns the best broadcast or barrier that moves find, with the bound on all trees with groups.
pub(super) fn search(
    costs: &CostModel,
    operation: Operation,
    root: Option<usize>,
    effort: Effort,
    watch: Watch<'_>,
) -> FoundSchedule {
    let quick = quick(costs, operation, root);
    let known = Progress {
        stage: Stage::Prepare,
        latency: quick.0,
        lower_bound: 0.0,
        moves: 0,
    };
    let bound = pace::watched(&mut *watch, known, |pace| {
        groups::lower_bound_within(costs, operation, root, pace)
    });
    let ControlFlow::Continue(lower_bound) = bound else {
        return FoundSchedule {
            shape: quick.1,
            lower_bound: 0.0,
        };
    };
    let mut look = |progress: &Progress| {
        let progress = Progress {
            latency: progress.latency.min(known.latency),
            lower_bound,
            ..*progress
        };
        watch(&progress)
    };
    let first = Effort {
        moves: (effort.moves / TREES_SHARE).min(TREES_MAX),
        ..effort
    };
    let mut rounds = SearchRounds::without_proof(first, way::FIRST_ROUND);
    let found = trees(costs, operation, root, &mut rounds, &mut look);
    let start = FirstTrees {
        costs,
        operation,
        free_root: root.is_none(),
        lower_bound,
        shape: found.shape,
    };
    let mut best = (start.shape.latency(costs, operation), start.shape.clone());
    if quick.0 < best.0 {
        best = quick;
    }
    let mut spent = first.moves;
    let mut rounds = SearchRounds::without_proof(effort, FIRST_ROUND);
    // The starts are costed even where no move is left.
    let mut next = rounds.next(spent).or(Some(SearchRound::none(effort.seed)));
    while let Some(round) = next {
        let known = best.0;
        let mut ended = false;
        let shape = start.improve(round, &mut |moves| {
            let flow = look(&Progress {
                stage: Stage::Improve,
                latency: known,
                lower_bound,
                moves: spent + moves * MOVES_PER_MOVE,
            });
            ended |= flow.is_break();
            flow
        });
        spent += round.moves;
        let latency = shape.latency(costs, operation);
        if latency < best.0 {
            best = (latency, shape);
        }
        if ended || best.0 <= lower_bound {
            break;
        }
        next = rounds.next(spent);
    }
    FoundSchedule {
        shape: best.1,
        lower_bound,
    }
}

/// Returns the fastest of the trees with groups that need no search, and its latency.
fn quick(costs: &CostModel, operation: Operation, root: Option<usize>) -> (f64, Shape) {
    let tree = Shape::Tree(first::tree(costs, operation, root));
    let flat = Grouped::flat(costs.n(), root.unwrap_or(0));
    let flat = match operation {
        // Both ways, as what a search finds.
        Operation::Barrier => Shape::of_grouped_trees(flat.clone(), flat),
        Operation::Broadcast | Operation::Reduce => Shape::of_groups(flat),
    };
    let [tree, flat] = [tree, flat].map(|shape| (shape.latency(costs, operation), shape));
    if flat.0 < tree.0 { flat } else { tree }
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
