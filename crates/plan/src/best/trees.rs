//! The search for trees without groups: moves and proofs for every operation.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::barrier;
use super::way::{self, DirectionSearch, FoundSchedule, SearchRound, SearchRounds};
use crate::bound;
use crate::operation::Operation;
use crate::progress::{Progress, Watch};
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
    match operation {
        Operation::Broadcast => {
            let way = one_way(costs, root, rounds, watch);
            FoundSchedule {
                shape: Shape::Tree(way.tree),
                lower_bound: way.lower_bound,
            }
        }
        Operation::Reduce => {
            let mirrored = costs.mirrored();
            let way = one_way(&mirrored, root, rounds, watch);
            FoundSchedule {
                shape: Shape::Tree(way.tree.reversed()),
                lower_bound: way.lower_bound,
            }
        }
        Operation::Barrier => barrier::search(costs, root, rounds, watch),
    }
}

fn one_way<'a>(
    costs: &'a CostModel,
    root: Option<usize>,
    rounds: &mut SearchRounds,
    watch: Watch<'_>,
) -> DirectionSearch<'a> {
    let bound = bound::lower_bound(costs, Operation::Broadcast, root);
    let mut way = DirectionSearch::new(costs, root, bound, rounds.effort.moves);
    // Where the root is free, Smelt's root is searched as well: proofs for one root find better
    // trees sooner.
    let is_rooted = root.is_none() && costs.n() <= way::PROVED_SOON;
    let mut rooted = is_rooted
        .then(|| DirectionSearch::new(costs, Some(smelt::root(costs)), way.lower_bound, 0));
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
