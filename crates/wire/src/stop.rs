//! The word that ends the operations of a team.
//!
//! | word | operations that end | changed by |
//! | --- | --- | --- |
//! | 0 | none | [`fail`](StopWord::fail), [`cancel_from`](StopWord::cancel_from) |
//! | cancelled from n on | n and later ones | `fail`; `cancel_from` with an operation before n |
//! | failed | all | nobody |
//!
//! The threads that change it may belong to several processes, so no lock keeps them apart. The dangerous
//! interleaving: one thread sees that nothing has been stopped, another one fails the team, and the first one
//! then writes its cancellation over the failure. So a cancellation replaces only the very word that it was
//! compared with.
//!
//! **Invariant 1:** after `fail` the word says so for ever. **Invariant 2:** until then it says the earliest
//! operation that was cancelled.

use crate::segment::Lines;
use crate::sync::{AtomicU64, Ordering, mutated, order};
use core::num::NonZeroU64;

/// A line that says which operations of a team end. Any thread of the team may change it.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct StopWord(AtomicU64);

/// Which operations end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// All, because the team has failed.
    Failed,
    /// Those from this number on, because a member has cancelled them.
    From(u32),
}

/// A word that says that some operations end, not yet interpreted.
#[derive(Clone, Copy, Debug)]
pub struct Stop(NonZeroU64);

impl Stop {
    /// Which operations end.
    pub fn meaning(self) -> Stopped {
        match self.0.get() {
            word if word & CANCELLED != 0 => Stopped::From(word as u32),
            _ => Stopped::Failed,
        }
    }
}

// SAFETY: one atomic integer, of which any value is valid; zero is its default, no Drop.
unsafe impl Lines for StopWord {}

const FAILED: u64 = 1;
/// The mark of a cancellation. The lower 32 bits are the number of the first operation that ends.
const CANCELLED: u64 = 1 << 32;

impl StopWord {
    /// Reads the word; `None` if no operation ends. Whoever sees that the team has failed also sees what the thread
    /// that failed it did before.
    ///
    /// # Cost
    ///
    /// One load of a line that all ranks share until it is changed.
    #[inline(always)]
    pub fn look(&self) -> Option<Stop> {
        // Acquire: synchronises with the exchange in `fail`.
        NonZeroU64::new(self.0.load(order::see())).map(Stop)
    }

    /// Which operations end.
    pub fn get(&self) -> Option<Stopped> {
        self.look().map(Stop::meaning)
    }

    /// Ends all operations.
    pub fn fail(&self) {
        // Release: synchronises with the load in `look`. An exchange continues the release sequence of
        // a thread that has failed the team before.
        self.0.swap(FAILED, order::raise());
    }

    /// Ends the operations from number `seq` on, unless the team has failed, or they were cancelled from an
    /// earlier one on. Numbers wrap around; of two that are less than 2^31 apart the earlier one counts.
    pub fn cancel_from(&self, seq: u32) {
        // Relaxed, here and below: a cancellation publishes nothing but itself, and the exchange decides.
        let mut word = self.0.load(Ordering::Relaxed);
        while match NonZeroU64::new(word).map(|word| Stop(word).meaning()) {
            None => true,
            Some(Stopped::From(first)) => (seq.wrapping_sub(first) as i32) < 0,
            Some(Stopped::Failed) => false,
        } {
            let wanted = CANCELLED | u64::from(seq);
            if mutated!(CancelOverwrites) {
                self.0.store(wanted, Ordering::Relaxed);
                return;
            }
            let exchanged =
                self.0
                    .compare_exchange(word, wanted, Ordering::Relaxed, Ordering::Relaxed);
            match exchanged {
                Ok(_) => return,
                Err(other) => word = other,
            }
        }
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<StopWord>() == crate::line::PAIR_BYTES);

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_failure_stays_and_the_earlier_cancellation_counts() {
        let word = StopWord::default();
        assert!(word.look().is_none() && word.get().is_none());
        // From there on numbers wrap around.
        for (seq, first) in [
            (2, 2),
            (7, 2),
            (1, 1),
            (0, 0),
            (u32::MAX, u32::MAX),
            (3, u32::MAX),
            (1 << 31, 1 << 31),
        ] {
            word.cancel_from(seq);
            assert_eq!(word.get(), Some(Stopped::From(first)));
        }
        word.fail();
        word.cancel_from(1);
        word.fail();
        assert_eq!(word.get(), Some(Stopped::Failed));
    }
}
