//! Both directions with one root.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::way::Way;
use super::{Found, Progress, Stage, Turn, Turns, Watch};
use crate::bound;
use crate::exact;
use crate::operation::Operation;
use crate::plan::Shape;
use crate::search::{self, Effort, TwoTrees};
use crate::smelt;

/// The way in, on mirrored costs, and the way out.
struct Pair<'a> {
    root: usize,
    inward: Way<'a>,
    outward: Way<'a>,
}

impl<'a> Pair<'a> {
    fn new(costs: &'a CostModel, mirrored: &'a CostModel, root: usize, moves: u64) -> Self {
        let way = |costs: &'a CostModel| {
            let bound = bound::lower_bound(costs, Operation::Broadcast, Some(root));
            Way::new(costs, Some(root), bound, moves)
        };
        Self {
            root,
            inward: way(mirrored),
            outward: way(costs),
        }
    }

    fn latency(&self) -> f64 {
        self.inward.latency + self.outward.latency
    }

    fn lower_bound(&self) -> f64 {
        self.inward.lower_bound + self.outward.lower_bound
    }

    fn moves(&self) -> u64 {
        self.inward.moves + self.outward.moves
    }

    fn is_optimal(&self) -> bool {
        self.inward.is_optimal() && self.outward.is_optimal()
    }

    fn take(&mut self, found: TwoTrees) {
        self.inward.take(found.inward.reversed());
        self.outward.take(found.outward);
    }

    /// A turn within a search over several roots, which has `spent` so many moves.
    fn deepen(&mut self, turn: Turn, spent: &mut u64, watch: Watch<'_>) -> ControlFlow<()> {
        let before = self.moves();
        let ended = self.turn(turn, &mut |p| {
            watch(&Progress {
                moves: *spent + p.moves - before,
                ..*p
            })
        });
        *spent += self.moves() - before;
        ended
    }

    /// Half a turn for each way.
    fn turn(&mut self, turn: Turn, watch: Watch<'_>) -> ControlFlow<()> {
        let half = Turn {
            moves: turn.moves.div_ceil(2),
            work: turn.work / 2,
            ..turn
        };
        let (inward, outward) = (&mut self.inward, &mut self.outward);
        inward.turn(half, &mut |p| watch(&both(p, outward)))?;
        outward.turn(half, &mut |p| watch(&both(p, inward)))
    }
}

/// The progress of one way, with what is known of the other.
fn both(progress: &Progress, other: &Way<'_>) -> Progress {
    Progress {
        latency: progress.latency + other.latency,
        lower_bound: progress.lower_bound + other.lower_bound,
        moves: progress.moves + other.moves,
        ..*progress
    }
}

pub(super) fn search(
    costs: &CostModel,
    root: Option<usize>,
    turns: &mut Turns,
    watch: Watch<'_>,
) -> Found {
    let mirrored = costs.mirrored();
    match root {
        Some(root) => fixed(costs, &mirrored, root, turns, watch),
        None => free(costs, &mirrored, turns, watch),
    }
}

fn fixed(
    costs: &CostModel,
    mirrored: &CostModel,
    root: usize,
    turns: &mut Turns,
    watch: Watch<'_>,
) -> Found {
    let mut pair = Pair::new(costs, mirrored, root, turns.effort.moves);
    while !pair.is_optimal()
        && let Some(turn) = turns.next(pair.moves())
    {
        if pair.turn(turn, watch).is_break() {
            break;
        }
    }
    let lower_bound = pair.lower_bound();
    found(pair, lower_bound)
}

fn found(pair: Pair<'_>, lower_bound: f64) -> Found {
    Found {
        shape: Shape::of_trees(pair.inward.tree.reversed(), pair.outward.tree),
        lower_bound,
    }
}

/// All roots at once by [`search::improve_barrier`], which settles on the most promising; then turns
/// for whichever root has the least bound, since only that one can be better, until the least bound
/// is the latency.
fn free(costs: &CostModel, mirrored: &CostModel, turns: &mut Turns, watch: Watch<'_>) -> Found {
    let n = costs.n();
    let base = bound::lower_bound(costs, Operation::Barrier, None);
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    let mut best = 0;
    let mut spent = 0;
    // The least that any root can have which has not been looked at.
    let mut untried: Vec<(f64, usize)> = Vec::new();
    while let Some(turn) = turns.next(spent) {
        let (mut done, mut seen) = (0, ControlFlow::Continue(()));
        let lower = least(&pairs, &untried, base);
        let effort = Effort {
            seed: turn.seed,
            moves: turn.moves,
        };
        let before = spent;
        let two = search::improve_barrier(costs, None, lower, effort, &mut |p| {
            done = p.moves;
            seen = watch(&Progress {
                stage: Stage::Improve,
                latency: p.latency,
                lower_bound: lower,
                moves: before + p.moves,
            });
            seen
        });
        spent += if seen.is_break() { done } else { turn.moves };
        let root = two.outward.root();
        if pairs.is_empty() {
            untried = (0..n).map(|r| (base, r)).collect();
        }
        let at = at_root(&mut pairs, &mut untried, costs, mirrored, root);
        pairs[at].take(two);
        if pairs[at].latency() < pairs[best].latency() {
            best = at;
        }
        if seen.is_break() {
            break;
        }
        // A good root that stays, as for one way.
        let at = at_root(
            &mut pairs,
            &mut untried,
            costs,
            mirrored,
            smelt::root(costs),
        );
        let third = Turn {
            moves: turn.moves / 3,
            work: turn.work / 3,
            ..turn
        };
        let ended = pairs[at].deepen(third, &mut spent, watch);
        if pairs[at].latency() < pairs[best].latency() {
            best = at;
        }
        if ended.is_break() {
            break;
        }
        let quota = spent + turn.moves.saturating_mul(turns.proof) / super::WORK_PER_MOVE;
        let mut stopped = false;
        while n <= exact::MEMBERS_MAX && spent < quota && !stopped {
            let Some((bound, at)) = weakest(&mut pairs, &mut untried, costs, mirrored) else {
                break;
            };
            if bound >= pairs[best].latency() * (1.0 - crate::plan::PROVED) {
                break;
            }
            let share = Turn {
                moves: (turn.moves / 16).max(500),
                ..turn
            };
            stopped = pairs[at].deepen(share, &mut spent, watch).is_break();
            if pairs[at].latency() < pairs[best].latency() {
                best = at;
            }
        }
        let lower = least(&pairs, &untried, base);
        if stopped || lower >= pairs[best].latency() * (1.0 - crate::plan::PROVED) {
            break;
        }
    }
    if pairs.is_empty() {
        pairs.push(Pair::new(costs, mirrored, 0, 0));
        untried = (1..n).map(|r| (base, r)).collect();
    }
    let lower_bound = least(&pairs, &untried, base).max(base);
    let pair = pairs.swap_remove(best);
    found(pair, lower_bound)
}

/// No root has a faster barrier.
fn least(pairs: &[Pair<'_>], untried: &[(f64, usize)], base: f64) -> f64 {
    let bounds = pairs
        .iter()
        .map(Pair::lower_bound)
        .chain(untried.iter().map(|u| u.0));
    bounds.reduce(f64::min).unwrap_or(base)
}

/// The pair with this root, made when it is new.
fn at_root<'a>(
    pairs: &mut Vec<Pair<'a>>,
    untried: &mut Vec<(f64, usize)>,
    costs: &'a CostModel,
    mirrored: &'a CostModel,
    root: usize,
) -> usize {
    if let Some(at) = pairs.iter().position(|pair| pair.root == root) {
        return at;
    }
    untried.retain(|&(_, other)| other != root);
    pairs.push(Pair::new(costs, mirrored, root, 0));
    pairs.len() - 1
}

/// The root whose bound is least, and that bound.
fn weakest<'a>(
    pairs: &mut Vec<Pair<'a>>,
    untried: &mut Vec<(f64, usize)>,
    costs: &'a CostModel,
    mirrored: &'a CostModel,
) -> Option<(f64, usize)> {
    if let Some(&(_, root)) = untried.first() {
        let at = at_root(pairs, untried, costs, mirrored, root);
        return Some((pairs[at].lower_bound(), at));
    }
    let bounds = pairs
        .iter()
        .enumerate()
        .map(|(at, pair)| (pair.lower_bound(), at));
    let open = bounds.filter(|&(_, at)| !pairs[at].is_optimal());
    open.min_by(|a, b| a.0.total_cmp(&b.0))
}
