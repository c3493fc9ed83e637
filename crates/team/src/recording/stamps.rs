//! When a rank came to its last operations, where other ranks read it.
//!
//! Only the rank itself writes, and others read no sooner than they have left the operation. So what a record adds to an
//! operation is one store to the rank's own cache.

use corecast_wire::{LineSlice, WORDS, Words};

/// Operations whose stamps a rank keeps.
pub(crate) const STAMPS: usize = 1024;

/// Lines of a rank's stamps.
pub(crate) const STAMP_LINES: usize = STAMPS / WORDS;

/// Bits of a word that say in which lap over the lines it was written. The stamp is in the bits above, whose lowest 52
/// it keeps: of a counter at 5 GHz, ten days.
const LAP_BITS: u32 = 12;

/// Laps that are told apart. Lap 0 is none: so are words that nobody has written.
const LAPS: u64 = (1 << LAP_BITS) - 1;

/// The stamps of one rank.
#[derive(Clone, Debug)]
pub(crate) struct ArrivalStamps(LineSlice<Words>);

/// What a rank's stamps say about an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It came at this time.
    At(u64),
    /// It has not come yet.
    NotYet,
    /// It has come to so many operations since that the stamp was overwritten.
    Overwritten,
}

impl ArrivalStamps {
    /// # Panics
    ///
    /// If these are not [`STAMP_LINES`] lines.
    pub(crate) fn new(lines: LineSlice<Words>) -> Self {
        assert_eq!(lines.len(), STAMP_LINES);
        Self(lines)
    }

    fn place(&self, seq: u64) -> (&Words, usize) {
        let at = (seq % STAMPS as u64) as usize;
        (&self.0[at / WORDS], at % WORDS)
    }

    fn lap(seq: u64) -> u64 {
        seq / STAMPS as u64 % LAPS + 1
    }

    /// Notes that this rank comes to operation number `seq` at `time`.
    pub(super) fn note(&self, seq: u64, time: u64) {
        let (line, at) = self.place(seq);
        line.set(at, time << LAP_BITS | Self::lap(seq));
    }

    /// When the rank came to operation number `seq`. Of all times that a stamp can mean it is the one nearest to `near`.
    pub(super) fn read(&self, seq: u64, near: u64) -> Arrival {
        let (line, at) = self.place(seq);
        let word = line.get(at);
        let lap = word & LAPS;
        match (lap + LAPS - Self::lap(seq)) % LAPS {
            _ if lap == 0 => Arrival::NotYet,
            0 => {
                // The distance between the kept bits, with its sign, in the upper bits of a word.
                let away = (word & !LAPS).wrapping_sub(near << LAP_BITS) as i64 >> LAP_BITS;
                Arrival::At(near.wrapping_add_signed(away))
            }
            ahead if ahead <= LAPS / 2 => Arrival::Overwritten,
            _ => Arrival::NotYet,
        }
    }
}
