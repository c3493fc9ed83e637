//! The turns of a search: some moves, then some proof, each turn longer than the one before.

use crate::pattern::Pattern;
use crate::search::Effort;

/// Splits of a proof that take as long as a move.
pub(super) const WORK_PER_MOVE: u64 = 8;

/// Moves of the first turn.
pub(super) const FIRST_ROUND: u64 = 4_000;

/// Each turn is so many times longer than the one before.
const GROWTH: u64 = 4;

/// The budget of one round: first of moves, then of proof steps.
#[derive(Clone, Copy)]
pub(super) struct SearchRound {
    pub(super) seed: u64,
    pub(super) moves: u64,
    pub(super) work: u64,
    /// Proof also goes on where the gap does not close.
    pub(super) is_patient: bool,
}

impl SearchRound {
    /// One of so many parts of it.
    pub(super) fn part(self, parts: u64) -> Self {
        Self {
            moves: self.moves / parts,
            work: self.work / parts,
            ..self
        }
    }

    /// What is left of it without a part.
    pub(super) fn without(self, part: Self) -> Self {
        Self {
            moves: self.moves - part.moves,
            work: self.work - part.work,
            ..self
        }
    }

    /// No moves and no proof.
    pub(super) fn none(seed: u64) -> Self {
        Self {
            seed,
            moves: 0,
            work: 0,
            is_patient: false,
        }
    }
}

/// The turns of a search, each longer than the one before, until the moves are used up.
pub(super) struct SearchRounds {
    pub(super) effort: Effort,
    /// Work of a turn's proof for each of its moves.
    proof: u64,
    is_patient: bool,
    next: u64,
    length: u64,
}

impl SearchRounds {
    /// Proof is the purpose of `optimal` and two thirds of it; in `best` it takes half of the time,
    /// and is given up for large teams when multipliers have left a gap.
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

    /// Moves alone, beginning with a turn of this length.
    pub(super) fn without_proof(effort: Effort, length: u64) -> Self {
        Self {
            effort,
            proof: 0,
            is_patient: false,
            next: 0,
            length,
        }
    }

    /// The next turn of a search that has made `done` moves.
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
