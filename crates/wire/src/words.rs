//! Words by which processes tell each other who they are and what has gone wrong.

use crate::segment::Lines;
use crate::sync::{AtomicU64, Ordering};

/// Words in one [`Words`].
pub const WORDS: usize = 16;

/// Sixteen words in memory that processes share. Each is read and written by itself.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Words([AtomicU64; WORDS]);

// SAFETY: atomic integers: zero is their default, any bit pattern is valid, no Drop.
unsafe impl Lines for Words {}

impl Words {
    /// Reads word `index`. The caller then also sees what the word's writer did before.
    ///
    /// # Panics
    ///
    /// If there is no such word.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        // Acquire: synchronises with the Release in `set`, `claim` and `replace`.
        self.0[index].load(Ordering::Acquire)
    }

    /// Writes word `index`. A reader of this value sees what the writer did before.
    ///
    /// # Panics
    ///
    /// If there is no such word.
    #[inline]
    pub fn set(&self, index: usize, word: u64) {
        // Release: synchronises with the Acquire in `get`.
        self.0[index].store(word, Ordering::Release);
    }

    /// Word `index` itself, whose address is given to the kernel.
    #[cfg(not(loom))]
    pub(crate) fn word(&self, index: usize) -> &AtomicU64 {
        &self.0[index]
    }

    /// Writes word `index` if it is 0, and returns whether it was. Of several threads that try, one
    /// succeeds.
    ///
    /// # Panics
    ///
    /// If there is no such word.
    pub fn claim(&self, index: usize, word: u64) -> bool {
        // AcqRel: synchronises with `get` and `set` in both directions.
        let swap = self.0[index].compare_exchange(0, word, Ordering::AcqRel, Ordering::Acquire);
        swap.is_ok()
    }

    /// Replaces word `index` if it is `old`, and returns whether it was. Of several threads that try, one succeeds.
    ///
    /// # Panics
    ///
    /// If there is no such word.
    pub fn replace(&self, index: usize, old: u64, word: u64) -> bool {
        // AcqRel: synchronises with `get` and `set` in both directions.
        let swap = self.0[index].compare_exchange(old, word, Ordering::AcqRel, Ordering::Acquire);
        swap.is_ok()
    }
}
