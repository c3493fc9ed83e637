//! The rounds of a search: each has some moves, then some proof, and is longer than the one before.

use crate::pattern::Pattern;
use crate::search::Effort;

/// Splits of a proof that take as long as one move.
pub(super) const WORK_PER_MOVE: u64 = 8;

/// Moves of the first round.
pub(super) const FIRST_ROUND: u64 = 4_000;

/// Each round is this many times longer than the one before.
const GROWTH: u64 = 4;

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
