//! How far a rank has come with the lines of an algorithm.

use crate::segment::Lines;
use crate::sync::{AtomicU64, Ordering, mutated};

/// The rounds that one rank has begun and ended with the lines of an algorithm, which other ranks read to know whether it is
/// still to change a line. It may lie in memory of several processes.
///
/// # Examples
///
/// ```
/// use corecast_wire::cache_lines::Rounds;
///
/// let of_rank = Rounds::default();
/// of_rank.begin(1, 77);
/// assert!(of_rank.has_begun(1, 77) && !of_rank.has_begun(1, 78) && !of_rank.has_ended(1));
/// of_rank.end(1);
/// assert!(of_rank.has_ended(1) && !of_rank.has_ended(2));
/// ```
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Rounds {
    begun: AtomicU64,
    ended: AtomicU64,
    lines: AtomicU64,
}

// SAFETY: atomic integers, of which any value is valid; zero is their default, no Drop.
unsafe impl Lines for Rounds {}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Rounds>() == crate::line::PAIR_BYTES);

impl Rounds {
    /// Notes that this rank begins a round with lines of this [digest](super::LineSet::digest). Whoever calls it enters the
    /// operation in the rank's history afterwards.
    pub fn begin(&self, round: u64, lines: u64) {
        // Relaxed, both: `OpHistory::enter` publishes them, for whoever has seen by `OpHistory::now` that the rank is there.
        self.lines.store(lines, Ordering::Relaxed);
        self.begun.store(round, Ordering::Relaxed);
    }

    /// Notes that this rank has done its part of the round.
    pub fn end(&self, round: u64) {
        // Release: synchronises with the load in `has_ended`: all changes of lines in this round came before.
        self.ended.store(round, Ordering::Release);
    }

    /// Whether the rank has begun the round, with lines of this digest.
    pub fn has_begun(&self, round: u64, lines: u64) -> bool {
        // Relaxed, both: ordered by `OpHistory::now`, as `begin` says.
        let same = self.lines.load(Ordering::Relaxed) == lines || mutated!(OtherSetUnseen);
        same && self.begun.load(Ordering::Relaxed) >= round
    }

    /// Whether the rank has ended the round.
    pub fn has_ended(&self, round: u64) -> bool {
        // Acquire: synchronises with the store in `end`. The last look of a wait then sees the rank's changes.
        self.ended.load(Ordering::Acquire) >= round && !mutated!(RoundEndUnseen)
    }
}
