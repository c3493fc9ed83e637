//! The search for a barrier: a fan-in and a fan-out that share one root.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::way::{DirectionSearch, FoundSchedule, SearchRound, SearchRounds, WORK_PER_MOVE};
use crate::bound;
use crate::exact;
use crate::pace;
use crate::progress::{Progress, Stage, Watch};
use crate::search::{self, Effort, TwoTrees};
use crate::shape::Shape;
use crate::smelt;

/// The searches for the fan-in, on mirrored costs, and for the fan-out, with one root.
struct BothDirections<'a> {
    root: usize,
    inward: DirectionSearch<'a>,
    outward: DirectionSearch<'a>,
    /// Work that the next proof of each direction may take.
    work: u64,
    /// The moves for which it is to be prepared; `None` once it is.
    unprepared: Option<u64>,
}

impl<'a> BothDirections<'a> {
    fn new(costs: &'a CostModel, mirrored: &'a CostModel, root: usize, moves: u64) -> Self {
        Self {
            root,
            inward: DirectionSearch::new(mirrored, Some(root), 0.0),
            outward: DirectionSearch::new(costs, Some(root), 0.0),
            work: 3 * exact::pricing(costs.n()).0,
            unprepared: Some(moves),
        }
    }

    /// Constructs trees and bounds, unless that was done before. The watcher sees `known`.
    fn prepare(&mut self, known: Progress, watch: Watch<'_>) -> ControlFlow<()> {
        if let Some(moves) = self.unprepared.take() {
            self.inward.prepare(moves, known, watch)?;
            self.outward.prepare(moves, known, watch)?;
        }
        ControlFlow::Continue(())
    }

    fn progress(&self, stage: Stage) -> Progress {
        both(&self.inward.progress(stage), &self.outward)
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

    /// One round, of which each direction gets half.
    fn round(&mut self, round: SearchRound, watch: Watch<'_>) -> ControlFlow<()> {
        let half = SearchRound {
            moves: round.moves.div_ceil(2),
            ..round.part(2)
        };
        let (inward, outward) = (&mut self.inward, &mut self.outward);
        inward.round(half, &mut |p| watch(&both(p, outward)))?;
        outward.round(half, &mut |p| watch(&both(p, inward)))
    }
}

/// The progress of one direction, with latency, bound and moves of the other added.
fn both(progress: &Progress, other: &DirectionSearch<'_>) -> Progress {
    Progress {
        latency: progress.latency + other.latency,
        lower_bound: progress.lower_bound + other.lower_bound,
        moves: progress.moves + other.moves,
        ..*progress
    }
}

/// Returns the best barrier that moves and proofs find; `mirrored` are the costs of the fan-in.
pub(super) fn search(
    costs: &CostModel,
    mirrored: &CostModel,
    root: Option<usize>,
    rounds: &mut SearchRounds,
    watch: Watch<'_>,
) -> FoundSchedule {
    match root {
        Some(root) => fixed(costs, mirrored, root, rounds, watch),
        None => free(costs, mirrored, rounds, watch),
    }
}

fn fixed(
    costs: &CostModel,
    mirrored: &CostModel,
    root: usize,
    rounds: &mut SearchRounds,
    watch: Watch<'_>,
) -> FoundSchedule {
    let mut pair = BothDirections::new(costs, mirrored, root, rounds.effort.moves);
    let known = pair.progress(Stage::Prepare);
    let ended = pair.prepare(known, watch);
    while ended.is_continue()
        && !pair.is_optimal()
        && let Some(round) = rounds.next(pair.moves())
    {
        if pair.round(round, watch).is_break() {
            break;
        }
    }
    let lower_bound = pair.lower_bound();
    found(pair, lower_bound)
}

fn found(pair: BothDirections<'_>, lower_bound: f64) -> FoundSchedule {
    FoundSchedule {
        shape: Shape::of_trees(pair.inward.tree.reversed(), pair.outward.tree),
        lower_bound,
    }
}

/// Plans a barrier whose root is free. [`search::improve_barrier`] looks at all roots at once and
/// settles on the most promising one. Further rounds go to the root with the least bound, since only
/// that one can still be better, until the least bound equals the latency.
fn free(
    costs: &CostModel,
    mirrored: &CostModel,
    rounds: &mut SearchRounds,
    watch: Watch<'_>,
) -> FoundSchedule {
    let mut roots = Roots::new(costs, mirrored);
    let ended = roots.prepare(watch);
    while ended.is_continue()
        && !roots.are_done()
        && let Some(round) = rounds.next(roots.spent)
    {
        if roots.round(round, watch).is_break() {
            break;
        }
    }
    let lower_bound = roots.lower_bound();
    let at = roots.best.unwrap_or_else(|| roots.at(0));
    found(roots.pairs.swap_remove(at), lower_bound)
}

/// The search over all roots.
struct Roots<'a> {
    costs: &'a CostModel,
    mirrored: &'a CostModel,
    /// Smelt's root.
    smelt: usize,
    /// A lower bound that holds for every root.
    base: f64,
    /// The roots that were looked at.
    pairs: Vec<BothDirections<'a>>,
    /// The roots that were not looked at yet.
    untried: Vec<usize>,
    /// The index in `pairs` of the fastest one.
    best: Option<usize>,
    /// Moves made so far.
    spent: u64,
}

impl<'a> Roots<'a> {
    fn new(costs: &'a CostModel, mirrored: &'a CostModel) -> Self {
        Self {
            costs,
            mirrored,
            smelt: 0,
            base: 0.0,
            pairs: Vec::new(),
            untried: (0..costs.n()).collect(),
            best: None,
            spent: 0,
        }
    }

    /// Computes the bound for every root, and finds Smelt's root. There is a barrier, over root 0, before
    /// that.
    fn prepare(&mut self, watch: Watch<'_>) -> ControlFlow<()> {
        let at = self.at(0);
        self.compare(at);
        let known = self.progress();
        let (costs, mirrored) = (self.costs, self.mirrored);
        pace::watched(watch, known, |pace| {
            self.base = bound::barrier_within(costs, mirrored, None, pace)?;
            self.smelt = smelt::root_within(costs, pace)?;
            ControlFlow::Continue(())
        })
    }

    fn progress(&self) -> Progress {
        Progress {
            stage: Stage::Prepare,
            latency: self.latency(),
            lower_bound: self.lower_bound(),
            moves: self.spent,
        }
    }

    /// Returns a latency that no root's barrier beats.
    fn lower_bound(&self) -> f64 {
        let base = (!self.untried.is_empty()).then_some(self.base);
        let bounds = self
            .pairs
            .iter()
            .map(BothDirections::lower_bound)
            .chain(base);
        bounds.reduce(f64::min).unwrap_or(0.0).max(self.base)
    }

    fn latency(&self) -> f64 {
        self.best
            .map_or(f64::INFINITY, |at| self.pairs[at].latency())
    }

    fn are_done(&self) -> bool {
        self.lower_bound() >= self.latency() * (1.0 - bound::PROVED)
    }

    /// Returns the index of the pair with this root, which is made when there is none.
    fn at(&mut self, root: usize) -> usize {
        if let Some(at) = self.pairs.iter().position(|pair| pair.root == root) {
            return at;
        }
        self.untried.retain(|&other| other != root);
        self.pairs
            .push(BothDirections::new(self.costs, self.mirrored, root, 0));
        self.pairs.len() - 1
    }

    /// Updates `best` after the pair at this index has changed.
    fn compare(&mut self, at: usize) {
        if self.pairs[at].latency() < self.latency() {
            self.best = Some(at);
        }
    }

    /// One round: moves for all roots together, a third as many for Smelt's root alone, then proofs.
    fn round(&mut self, round: SearchRound, watch: Watch<'_>) -> ControlFlow<()> {
        self.improve(round, watch)?;
        let at = self.at(self.smelt);
        self.deepen(at, round.part(3), watch)?;
        let quota = self.spent.saturating_add(round.work / WORK_PER_MOVE);
        while self.costs.n() <= exact::MEMBERS_MAX && self.spent < quota && !self.are_done() {
            let Some(at) = self.weakest() else {
                break;
            };
            let pair = &mut self.pairs[at];
            let share = SearchRound {
                moves: (round.moves / 16).max(500),
                work: pair.work,
                ..round
            };
            pair.work = pair.work.saturating_mul(4);
            self.deepen(at, share, watch)?;
        }
        ControlFlow::Continue(())
    }

    fn improve(&mut self, round: SearchRound, watch: Watch<'_>) -> ControlFlow<()> {
        let (mut done, mut seen) = (0, ControlFlow::Continue(()));
        let (lower_bound, spent, known) = (self.lower_bound(), self.spent, self.latency());
        let effort = Effort {
            seed: round.seed,
            moves: round.moves,
        };
        let costs = [self.mirrored, self.costs];
        let watched = &mut |p: &search::SearchProgress| {
            done = p.moves;
            seen = watch(&Progress {
                stage: Stage::Improve,
                latency: p.latency,
                lower_bound,
                moves: spent + p.moves,
            });
            seen
        };
        let found =
            search::improve_both(costs, None, self.smelt, known, lower_bound, effort, watched);
        self.spent += if seen.is_break() { done } else { round.moves };
        let Some(found) = found else { return seen };
        let at = self.at(found.outward.root());
        self.pairs[at].take(found);
        self.compare(at);
        seen?;
        self.ready(at, watch)
    }

    /// Prepares the pair at this index, unless that was done before.
    fn ready(&mut self, at: usize, watch: Watch<'_>) -> ControlFlow<()> {
        let known = self.progress();
        let ended = self.pairs[at].prepare(known, watch);
        self.compare(at);
        ended
    }

    fn deepen(&mut self, at: usize, round: SearchRound, watch: Watch<'_>) -> ControlFlow<()> {
        self.ready(at, watch)?;
        // What is proved for one root is no bound for all.
        let (known, spent) = (self.progress(), self.spent);
        let pair = &mut self.pairs[at];
        let before = pair.moves();
        let ended = pair.round(round, &mut |p| {
            watch(&Progress {
                latency: p.latency.min(known.latency),
                lower_bound: known.lower_bound,
                moves: spent + p.moves - before,
                ..*p
            })
        });
        self.spent += pair.moves() - before;
        self.compare(at);
        ended
    }

    /// Returns the index of the root whose bound is least and can still rise.
    fn weakest(&mut self) -> Option<usize> {
        if let Some(&root) = self.untried.first() {
            return Some(self.at(root));
        }
        let open = (0..self.pairs.len()).filter(|&at| !self.pairs[at].is_optimal());
        open.min_by(|&a, &b| {
            let bound = |at: usize| self.pairs[at].lower_bound();
            bound(a).total_cmp(&bound(b))
        })
    }
}
