//! Arrival counters: a line to which many members add and which one reads.

use crate::segment::Lines;
use crate::sync::{AtomicU64, Ordering, order};

/// CLa's many-to-one synchronisation over the *same line* (§3.1): every member takes the line once to
/// add to it, and the reader fetches it once when all have.
///
/// The members decide what they add; the sum wraps around.
///
/// **Invariant:** only additions write the line, and each continues the release sequence of those
/// before it. So a reader of a sum sees what each member that added to it did before.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct ArrivalCounter {
    sum: AtomicU64,
}

// SAFETY: one atomic integer, of which any value is valid; zero is its default, no Drop.
unsafe impl Lines for ArrivalCounter {}

impl ArrivalCounter {
    /// Adds `value` and returns the sum. A reader of the sum sees what the caller did before. The sum
    /// tells the last member of a group that it is the last, and has to wake the reader.
    ///
    /// # Cost
    ///
    /// One transfer of a cache line, from the member that added before.
    #[inline(always)]
    pub fn add(&self, value: u64) -> u64 {
        // Release: synchronises with the load in `sum`.
        self.add_by(value, order::count())
    }

    #[inline(always)]
    pub(crate) fn add_by(&self, value: u64, order: Ordering) -> u64 {
        self.sum.fetch_add(value, order).wrapping_add(value)
    }

    /// The sum of all additions so far.
    #[inline(always)]
    pub fn sum(&self) -> u64 {
        // Acquire: synchronises with the additions in `add`.
        self.sum.load(order::total())
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<ArrivalCounter>() == crate::line::PAIR_BYTES);
