//! A line that says how far its writer has come.

use crate::sync::{AtomicU64, order};

/// One writer, any number of readers; the value only grows (Invariant 1), so a reader that missed
/// a value sees a later one. CLa's `write` and `wait` of a flag line.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Flag {
    seq: AtomicU64,
}

impl Flag {
    /// Says that the writer has come to `seq`: what it did before is visible to whoever sees it.
    #[inline(always)]
    pub fn raise(&self, seq: u64) {
        // Release: synchronises with the load in `seq`.
        self.seq.store(seq, order::raise());
    }

    /// How far the writer has come.
    #[inline(always)]
    pub fn seq(&self) -> u64 {
        // Acquire: synchronises with the store in `raise`.
        self.seq.load(order::see())
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Flag>() == crate::line::PAIR_BYTES);
