//! Patterns `best` and `optimal`: search and proof take turns until they meet.
//!
//! ```text
//! construct ──► improve ──► prove ──► improve, longer ──► prove, longer ──► ...
//!                  │ latency   │ lower bound, sometimes a better tree
//!                  └────►◄─────┘ equal: optimal
//! ```
//!
//! Where costs say what lines cost that several members share ([`CostModel::lines`]), trees with
//! groups are searched too, in `grouped`: for broadcasts and barriers, since a reduction shares no
//! lines. The bound is then [`crate::groups::lower_bound`], of all trees with and without groups.
//!
//! **Deterministic.** The result depends on the costs, the operation, the root, the seed and the
//! number of moves alone. Whoever has a time limit gives a watcher, which may end the search at any
//! time; the best plan so far is the result then, with the bound that was proved so far.

mod barrier;
mod grouped;
mod way;

use std::ops::ControlFlow;

use corecast_model::CostModel;

use crate::bound;
use crate::operation::Operation;
use crate::pattern::Pattern;
use crate::plan::Shape;
use crate::search::Effort;
use crate::smelt;
use way::Way;

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
pub(crate) struct Found {
    /// The schedule; never rounds.
    pub(crate) shape: Shape,
    /// No schedule of those that were searched is faster.
    pub(crate) lower_bound: f64,
}

/// Splits of a proof that take as long as a move.
const WORK_PER_MOVE: u64 = 8;
/// Moves of the first turn.
const FIRST_TURN: u64 = 4_000;
/// Each turn is so many times longer than the one before.
const GROWTH: u64 = 4;

/// Some moves, then some proof.
#[derive(Clone, Copy)]
struct Turn {
    seed: u64,
    moves: u64,
    work: u64,
    /// Proof also goes on where the gap does not close.
    is_patient: bool,
}

impl Turn {
    /// One of so many parts of it.
    fn part(self, parts: u64) -> Self {
        Self {
            moves: self.moves / parts,
            work: self.work / parts,
            ..self
        }
    }

    /// What is left of it without a part.
    fn without(self, part: Self) -> Self {
        Self {
            moves: self.moves - part.moves,
            work: self.work - part.work,
            ..self
        }
    }

    /// No moves and no proof.
    fn none(seed: u64) -> Self {
        Self {
            seed,
            moves: 0,
            work: 0,
            is_patient: false,
        }
    }
}

/// The turns of a search, each longer than the one before, until the moves are used up.
struct Turns {
    effort: Effort,
    /// Work of a turn's proof for each of its moves.
    proof: u64,
    is_patient: bool,
    next: u64,
    length: u64,
}

impl Turns {
    /// Proof is the purpose of `optimal` and two thirds of it; in `best` it takes half of the time,
    /// and is given up for large teams when prices have left a gap.
    fn new(pattern: Pattern, effort: Effort) -> Self {
        let is_patient = pattern == Pattern::Optimal;
        let share = if is_patient { 4 } else { 2 };
        Self {
            effort,
            proof: share * WORK_PER_MOVE / 2,
            is_patient,
            next: 0,
            length: FIRST_TURN,
        }
    }

    /// Moves alone, beginning with a turn of this length.
    fn without_proof(effort: Effort, length: u64) -> Self {
        Self {
            effort,
            proof: 0,
            is_patient: false,
            next: 0,
            length,
        }
    }

    /// The next turn of a search that has made `done` moves.
    fn next(&mut self, done: u64) -> Option<Turn> {
        let left = self
            .effort
            .moves
            .checked_sub(done)
            .filter(|&left| left > 0)?;
        let moves = self.length.min(left);
        let turn = Turn {
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
        Some(turn)
    }
}

/// The best plan's schedule, and the bound that was proved for it.
pub(crate) fn search(
    costs: &CostModel,
    pattern: Pattern,
    operation: Operation,
    root: Option<usize>,
    effort: Effort,
    watch: Watch<'_>,
) -> Found {
    if costs.lines().is_some() && operation != Operation::Reduce {
        return grouped::search(costs, operation, root, effort, watch);
    }
    trees(
        costs,
        operation,
        root,
        &mut Turns::new(pattern, effort),
        watch,
    )
}

/// The same with lines of two members only, whatever the costs say.
fn trees(
    costs: &CostModel,
    operation: Operation,
    root: Option<usize>,
    turns: &mut Turns,
    watch: Watch<'_>,
) -> Found {
    match operation {
        Operation::Broadcast => {
            let way = one_way(costs, root, turns, watch);
            Found {
                shape: Shape::Tree(way.tree),
                lower_bound: way.lower_bound,
            }
        }
        Operation::Reduce => {
            let mirrored = costs.mirrored();
            let way = one_way(&mirrored, root, turns, watch);
            Found {
                shape: Shape::Tree(way.tree.reversed()),
                lower_bound: way.lower_bound,
            }
        }
        Operation::Barrier => barrier::search(costs, root, turns, watch),
    }
}

fn one_way<'a>(
    costs: &'a CostModel,
    root: Option<usize>,
    turns: &mut Turns,
    watch: Watch<'_>,
) -> Way<'a> {
    let bound = bound::lower_bound(costs, Operation::Broadcast, root);
    let mut way = Way::new(costs, root, bound, turns.effort.moves);
    // Where the root is free, a good one that stays: proofs for one root meet better trees sooner.
    let is_rooted = root.is_none() && costs.n() <= way::PROVED_SOON;
    let mut rooted =
        is_rooted.then(|| Way::new(costs, Some(smelt::root(costs)), way.lower_bound, 0));
    while !way.is_optimal()
        && let Some(turn) = turns.next(way.moves)
    {
        let ended = match &mut rooted {
            None => way.turn(turn, watch),
            Some(rooted) => two_roots(&mut way, rooted, turn, watch),
        };
        if ended.is_break() {
            break;
        }
    }
    way
}

/// A third of a turn for the root that stays, the rest for the free one, which takes what is better.
fn two_roots(
    way: &mut Way<'_>,
    rooted: &mut Way<'_>,
    turn: Turn,
    watch: Watch<'_>,
) -> ControlFlow<()> {
    let third = turn.part(3);
    let before = rooted.moves;
    let ended = rooted.turn(third, &mut |p| {
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
    way.turn(turn.without(third), watch)
}
