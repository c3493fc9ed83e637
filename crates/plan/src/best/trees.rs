//! The search for trees without groups: moves and proofs for every operation.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::barrier;
use super::way::{self, DirectionSearch, FoundSchedule, SearchRound, SearchRounds};
use crate::bound;
use crate::cost;
use crate::first;
use crate::operation::Operation;
use crate::pace;
use crate::progress::{Progress, Stage, Watch};
use crate::shape::Shape;
use crate::smelt;

/// Returns the best plan whose lines have two members each, even where the costs allow groups.
pub(super) fn trees(
    costs: &CostModel,
    operation: Operation,
    root: Option<usize>,
    rounds: &mut SearchRounds,
    watch: Watch<'_>,
) -> FoundSchedule {
    let first = first::tree(costs, operation, root);
    let known = Progress {
        stage: Stage::Prepare,
        latency: cost::latency(costs, &first, operation),
        lower_bound: 0.0,
        moves: 0,
    };
    match operation {
        Operation::Broadcast => {
            let way = one_way(costs, root, rounds, watch);
            FoundSchedule {
                shape: Shape::Tree(way.tree),
                lower_bound: way.lower_bound,
            }
        }
        Operation::Reduce => {
            let mirrored = pace::watched(&mut *watch, known, |pace| bound::mirrored(costs, pace));
            let ControlFlow::Continue(mirrored) = mirrored else {
                return FoundSchedule::unbounded(first);
            };
            let way = one_way(&mirrored, root, rounds, watch);
            FoundSchedule {
                shape: Shape::Tree(way.tree.reversed()),
                lower_bound: way.lower_bound,
            }
        }
        Operation::Barrier => {
            let mirrored = pace::watched(&mut *watch, known, |pace| bound::mirrored(costs, pace));
            match mirrored {
                ControlFlow::Continue(mirrored) => {
                    barrier::search(costs, &mirrored, root, rounds, watch)
                }
                ControlFlow::Break(()) => FoundSchedule::unbounded(first),
            }
        }
    }
}

fn one_way<'a>(
    costs: &'a CostModel,
    root: Option<usize>,
    rounds: &mut SearchRounds,
    watch: Watch<'_>,
) -> DirectionSearch<'a> {
    let mut way = DirectionSearch::new(costs, root, 0.0);
    let known = way.progress(Stage::Prepare);
    if way.prepare(rounds.effort.moves, known, watch).is_break() {
        return way;
    }
    // Where the root is free, Smelt's root is searched as well: proofs for one root find better
    // trees sooner.
    let is_rooted = root.is_none() && costs.n() <= way::PROVED_SOON;
    let mut rooted =
        is_rooted.then(|| DirectionSearch::new(costs, Some(smelt::root(costs)), way.lower_bound));
    if let Some(rooted) = &mut rooted {
        let known = way.progress(Stage::Prepare);
        if rooted.prepare(0, known, watch).is_break() {
            return way;
        }
    }
    while !way.is_optimal()
        && let Some(round) = rounds.next(way.moves)
    {
        let ended = match &mut rooted {
            None => way.round(round, watch),
            Some(rooted) => two_roots(&mut way, rooted, round, watch),
        };
        if ended.is_break() {
            break;
        }
    }
    way
}

/// One round, of which the search with the fixed root gets a third and the one with the free root
/// the rest; the latter takes over the tree of the former where it is better.
fn two_roots(
    way: &mut DirectionSearch<'_>,
    rooted: &mut DirectionSearch<'_>,
    round: SearchRound,
    watch: Watch<'_>,
) -> ControlFlow<()> {
    let third = round.part(3);
    let before = rooted.moves;
    let ended = rooted.round(third, &mut |p| {
        watch(&Progress {
            latency: p.latency.min(way.latency),
            lower_bound: way.lower_bound,
            moves: way.moves + p.moves - before,
            ..*p
        })
    });
    way.moves += rooted.moves - before;
    way.take(rooted.tree.clone());
    ended?;
    way.round(round.without(third), watch)
}
