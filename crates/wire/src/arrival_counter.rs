//! A line to which many add, and that one reads.

use crate::segment::Lines;
use crate::sync::{AtomicU64, Ordering, order};

/// CLa's many-to-one synchronisation over the *same line* (§3.1): every member takes the line once to
/// add to it, and the reader fetches it once when all have.
///
/// What members add is up to them; the sum wraps.
///
/// **Invariant:** nothing but additions writes the line, so whoever reads a sum sees what each of
/// those who added to it did before: every addition continues the release of those before it.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct ArrivalCounter {
    sum: AtomicU64,
}

// SAFETY: one atomic integer, of which any value is valid; zero is its default, no Drop.
unsafe impl Lines for ArrivalCounter {}

impl ArrivalCounter {
    /// Adds: what the caller did before is visible to whoever sees it. Returns the sum, by which the last
    /// one of a group knows that it is the last, and wakes the reader.
    ///
    /// # Cost
    ///
    /// One line taken from whoever added before.
    #[inline(always)]
    pub fn add(&self, value: u64) -> u64 {
        // Release: synchronises with the load in `sum`.
        self.add_by(value, order::count())
    }

    #[inline(always)]
    pub(crate) fn add_by(&self, value: u64, order: Ordering) -> u64 {
        self.sum.fetch_add(value, order).wrapping_add(value)
    }

    /// What was added so far.
    #[inline(always)]
    pub fn sum(&self) -> u64 {
        // Acquire: synchronises with the additions in `add`.
        self.sum.load(order::total())
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<ArrivalCounter>() == crate::line::PAIR_BYTES);
