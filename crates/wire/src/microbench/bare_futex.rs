//! A bare futex, to measure what it costs without the protocol of [`crate::Parker`].

use crate::futex::FutexWord;
use crate::line::Line;
use crate::sync::{AtomicU32, Ordering};
use std::time::Duration;

/// A bell that counts its rings. Threads of this process can sleep until it is rung.
///
/// # Examples
///
/// ```
/// use corecast_wire::microbench::BareFutex;
///
/// let bell = BareFutex::default();
/// bell.ring();
/// bell.sleep(0, std::time::Duration::from_secs(1)); // returns at once, it has been rung since
/// assert_eq!(bell.rung(), 1);
/// ```
#[derive(Debug, Default)]
pub struct BareFutex {
    word: Line<AtomicU32>,
    futex_word: FutexWord,
}

impl BareFutex {
    /// The number of rings so far.
    pub fn rung(&self) -> u32 {
        // Acquire: synchronises with the Release in `ring`.
        self.word.load(Ordering::Acquire)
    }

    /// Sleeps until there are more rings than `seen` or `limit` has passed. May return at any time.
    pub fn sleep(&self, seen: u32, limit: Duration) {
        self.futex_word.sleep(&self.word, seen, Some(limit), false);
    }

    /// Rings, and wakes one sleeper if there is one.
    ///
    /// # Cost
    ///
    /// A system call.
    pub fn ring(&self) {
        // Release: synchronises with the Acquire in `rung`.
        self.word.fetch_add(1, Ordering::Release);
        self.futex_word.wake(&self.word, false);
    }
}
