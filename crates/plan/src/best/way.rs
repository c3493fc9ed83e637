//! The search for one direction, a broadcast or a reduction read as a broadcast on mirrored costs, and
//! the rounds and the result that all searches of this folder share.
//!
//! Each round has some moves, then some proof, and is longer than the one before.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use crate::bound;
use crate::cost;
use crate::exact::{self, Limits};
use crate::first;
use crate::hierarchy;
use crate::operation::Operation;
use crate::pace::{self, Pace};
use crate::pattern::Pattern;
use crate::progress::{Progress, Stage, Watch};
use crate::search::{self, Effort, TreeSearch};
use crate::shape::Shape;
use crate::tree::Tree;

/// Most additions of the count with which a search begins, see [`hierarchy::certified`]. They take a
/// second or two; on machines with levels the count ends sooner.
const COUNT_WORK: u64 = 6_000_000_000;
/// A search with fewer moves than this skips that count.
const COUNT_FROM: u64 = 20_000;

/// Teams with more members are seldom proved optimal in a short time. When multipliers have left a gap,
/// their time is better spent on moves.
pub(super) const PROVED_SOON: usize = 40;

/// Splits of a proof that take as long as one move.
pub(super) const WORK_PER_MOVE: u64 = 8;

/// Moves of the first round.
pub(super) const FIRST_ROUND: u64 = 4_000;

/// Each round is this many times longer than the one before.
const GROWTH: u64 = 4;

/// The result of a search for one operation.
pub(crate) struct FoundSchedule {
    /// The schedule that was found; it is never [`Shape::Rounds`].
    pub(crate) shape: Shape,
    /// A bound that no schedule of the searched kinds beats.
    pub(crate) lower_bound: f64,
}

impl FoundSchedule {
    /// Returns a tree about which nothing is proved.
    pub(super) fn unbounded(tree: Tree) -> Self {
        Self {
            shape: Shape::Tree(tree),
            lower_bound: 0.0,
        }
    }
}

/// The budget of one round: first of moves, then of proof steps.
#[derive(Clone, Copy)]
pub(super) struct SearchRound {
    pub(super) seed: u64,
    pub(super) moves: u64,
    pub(super) work: u64,
    /// Whether proofs go on although multipliers have left a gap.
    pub(super) is_patient: bool,
}

impl SearchRound {
    /// Returns a round with the given fraction, 1 / `parts`, of this budget.
    pub(super) fn part(self, parts: u64) -> Self {
        Self {
            moves: self.moves / parts,
            work: self.work / parts,
            ..self
        }
    }

    /// Returns this budget less that of `part`.
    pub(super) fn without(self, part: Self) -> Self {
        Self {
            moves: self.moves - part.moves,
            work: self.work - part.work,
            ..self
        }
    }

    /// Returns a round without moves and without proof.
    pub(super) fn none(seed: u64) -> Self {
        Self {
            seed,
            moves: 0,
            work: 0,
            is_patient: false,
        }
    }
}

/// Yields the rounds of a search, each longer than the one before, until the moves are used up.
pub(super) struct SearchRounds {
    pub(super) effort: Effort,
    /// Work of a round's proof for each of its moves.
    proof: u64,
    is_patient: bool,
    next: u64,
    length: u64,
}

impl SearchRounds {
    /// Divides the time between moves and proof. `optimal` gives two thirds to proof, which is its
    /// purpose; `best` gives half, and gives proof up for large teams when multipliers have left a
    /// gap.
    pub(super) fn new(pattern: Pattern, effort: Effort) -> Self {
        let is_patient = pattern == Pattern::Optimal;
        let share = if is_patient { 4 } else { 2 };
        Self {
            effort,
            proof: share * WORK_PER_MOVE / 2,
            is_patient,
            next: 0,
            length: FIRST_ROUND,
        }
    }

    /// Returns rounds of moves without proof, the first of the given length.
    pub(super) fn without_proof(effort: Effort, length: u64) -> Self {
        Self {
            effort,
            proof: 0,
            is_patient: false,
            next: 0,
            length,
        }
    }

    /// Returns the next round of a search that has made `done` moves; `None` when all are made.
    pub(super) fn next(&mut self, done: u64) -> Option<SearchRound> {
        let left = self
            .effort
            .moves
            .checked_sub(done)
            .filter(|&left| left > 0)?;
        let moves = self.length.min(left);
        let round = SearchRound {
            seed: self
                .effort
                .seed
                .wrapping_add(self.next.wrapping_mul(0x9e37_79b9)),
            moves,
            work: moves.saturating_mul(self.proof),
            is_patient: self.is_patient,
        };
        self.next += 1;
        self.length = self.length.saturating_mul(GROWTH);
        Some(round)
    }
}

/// The search for the best broadcast tree, as far as it has come.
pub(super) struct DirectionSearch<'a> {
    costs: &'a CostModel,
    root: Option<usize>,
    pub(super) tree: Tree,
    pub(super) latency: f64,
    pub(super) lower_bound: f64,
    /// The search by moves, once it has begun.
    search: Option<TreeSearch<'a>>,
    /// Whether a proof has ended. The proof counts in ticks, so that bound and latency may still differ
    /// in their last digits.
    proved: bool,
    /// Whether multipliers have had their time and a gap is left.
    is_wide: bool,
    /// Moves made so far. The work of proofs is counted as the moves that take as long.
    pub(super) moves: u64,
}

impl<'a> DirectionSearch<'a> {
    /// Begins with a tree that is there at once.
    pub(super) fn new(costs: &'a CostModel, root: Option<usize>, lower_bound: f64) -> Self {
        let tree = first::tree(costs, Operation::Broadcast, root);
        Self {
            costs,
            root,
            latency: latency(costs, &tree),
            tree,
            lower_bound,
            search: None,
            proved: costs.n() == 1,
            is_wide: false,
            moves: 0,
        }
    }

    /// Computes the bounds that need no search and constructs a tree, with more care the more `moves`
    /// are planned. The watcher sees `known` meanwhile.
    pub(super) fn prepare(
        &mut self,
        moves: u64,
        known: Progress,
        watch: Watch<'_>,
    ) -> ControlFlow<()> {
        pace::watched(watch, known, |pace| {
            let bound =
                bound::lower_bound_within(self.costs, Operation::Broadcast, self.root, pace)?;
            self.lower_bound = self.lower_bound.max(bound);
            self.construct(pace);
            if moves >= COUNT_FROM
                && let Some(found) =
                    hierarchy::certified_within(self.costs, self.root, COUNT_WORK, pace)
            {
                self.lower_bound = self.lower_bound.max(found.lower_bound);
                self.take(found.tree);
            }
            match pace.has_ended() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })
    }

    fn construct(&mut self, pace: &mut Pace<'_>) {
        let is_large = self.costs.n() > exact::MEMBERS_MAX;
        let quick = is_large.then(|| hierarchy::tree_within(self.costs, self.root, pace));
        let made = quick
            .flatten()
            .or_else(|| search::construct_within(self.costs, self.root, pace));
        let Some(tree) = made else { return };
        let found = latency(self.costs, &tree);
        if found <= self.latency {
            (self.latency, self.tree) = (found, tree);
        }
    }

    /// Returns the progress so far.
    pub(super) fn progress(&self, stage: Stage) -> Progress {
        Progress {
            stage,
            latency: self.latency,
            lower_bound: self.lower_bound,
            moves: self.moves,
        }
    }

    pub(super) fn is_optimal(&self) -> bool {
        self.proved || self.latency <= self.lower_bound
    }

    /// Runs one round of moves, then one of proof.
    pub(super) fn round(&mut self, round: SearchRound, watch: Watch<'_>) -> ControlFlow<()> {
        self.improve(round.seed, round.moves, watch)?;
        if round.is_patient || !self.is_wide {
            self.prove(round.work, watch)?;
        }
        ControlFlow::Continue(())
    }

    fn improve(&mut self, seed: u64, moves: u64, watch: Watch<'_>) -> ControlFlow<()> {
        if self.is_optimal() {
            return ControlFlow::Continue(());
        }
        let (costs, free_root) = (self.costs, self.root.is_none());
        let (before, lower_bound, latency) = (self.moves, self.lower_bound, self.latency);
        let known = self.progress(Stage::Prepare);
        let (search, tree) = (&mut self.search, &self.tree);
        let search = search.get_or_insert_with(|| {
            pace::watched(&mut *watch, known, |pace| {
                TreeSearch::new(costs, tree, free_root, seed, pace)
            })
        });
        let (first, mut done) = (search.moves(), 0);
        let seen = search.run(lower_bound, moves, &mut |progress| {
            done = progress.moves - first;
            watch(&Progress {
                stage: Stage::Improve,
                latency: progress.latency.min(latency),
                lower_bound,
                moves: before + done,
            })
        });
        let tree = search.tree();
        self.moves += if seen.is_break() { done } else { moves };
        self.take(tree);
        seen
    }

    fn prove(&mut self, work: u64, watch: Watch<'_>) -> ControlFlow<()> {
        if self.is_optimal() || work == 0 {
            return ControlFlow::Continue(());
        }
        let mut seen = ControlFlow::Continue(());
        let limits = Limits {
            work,
            ..Limits::default()
        };
        let (latency, moves, known) = (self.latency, self.moves, self.lower_bound);
        let proof = exact::prove(
            self.costs,
            self.root,
            &self.tree,
            self.lower_bound,
            limits,
            &mut |bound, work| {
                seen = watch(&Progress {
                    stage: Stage::Prove,
                    latency,
                    lower_bound: known.max(bound),
                    moves: moves + work / WORK_PER_MOVE,
                });
                seen
            },
        );
        self.moves += proof.work / WORK_PER_MOVE;
        self.lower_bound = self.lower_bound.max(proof.lower_bound);
        if let Some(tree) = proof.tree {
            if let Some(search) = &mut self.search {
                search.offer(&tree);
            }
            self.take(tree);
        }
        self.proved |= proof.optimal;
        let n = self.costs.n();
        self.is_wide |= n > PROVED_SOON && work >= exact::pricing(n).1;
        seen
    }

    /// Takes the tree if it is faster than the best so far. The search by moves goes on from its own
    /// tree: another one would draw it into a valley that was searched already.
    pub(super) fn take(&mut self, tree: Tree) {
        let found = latency(self.costs, &tree);
        if found < self.latency {
            (self.latency, self.tree) = (found, tree);
        }
    }
}

fn latency(costs: &CostModel, tree: &Tree) -> f64 {
    cost::latency(costs, tree, Operation::Broadcast)
}
