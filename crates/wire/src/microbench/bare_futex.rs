//! A word to sleep on: what a futex costs by itself, without the protocol of [`crate::Parker`].

use crate::futex::FutexWord;
use crate::line::Line;
use crate::sync::{AtomicU32, Ordering};
use std::time::Duration;

/// Counts how often it was rung; threads of this process can sleep until it is.
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
    /// How often it was rung.
    pub fn rung(&self) -> u32 {
        // Acquire: synchronises with the Release in `ring`.
        self.word.load(Ordering::Acquire)
    }

    /// Sleeps until it is rung more often than `seen`, `limit` has passed, or for no reason.
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
