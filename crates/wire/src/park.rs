//! One thread's place to sleep, and how others learn that it sleeps.
//!
//! A thread waits for one thing at a time; a *token* names it. The word is [`AWAKE`] or the token
//! of what its owner is about to sleep for:
//!
//! | word | owner | a publisher of `token` |
//! | --- | --- | --- |
//! | `AWAKE` | runs | sees it in its own shared copy of the line: nothing to do |
//! | `token` | looks once more, then sleeps | swaps it to `AWAKE` and rings |
//! | another token | sleeps for something else | nothing to do |
//!
//! The dangerous interleaving: the owner looks (nothing there), the publisher publishes and looks
//! (nobody sleeps), the owner sleeps for ever. It needs both looks to precede both stores in the
//! eyes of the other. **Invariant 1:** the owner stores its token, passes the heavy fence, and
//! only then takes its last look. **Invariant 2:** the publisher publishes, passes the light
//! fence, and only then loads the word. With the two fences at least one of them sees the other.

use crate::fence::{self, FenceKind};
use crate::futex::Bed;
use crate::sync::{AtomicU32, Ordering, mutated};
use std::time::Duration;

/// The word while the owner runs. Tokens are any other value.
pub const AWAKE: u32 = 0;

/// A thread's place to sleep. The owner sleeps, anybody may wake.
#[derive(Debug, Default)]
pub struct Parker {
    word: AtomicU32,
    bed: Bed,
}

impl Parker {
    /// Publisher's side, after publishing what `token` names: wakes the owner if it sleeps for it.
    ///
    /// # Cost
    ///
    /// One load of a line that stays shared while the owner runs; a system call if it sleeps.
    #[inline(always)]
    pub fn wake_for(&self, token: u32, kind: FenceKind) {
        fence::light(kind);
        // Relaxed: ordered by the fences (Invariants 1 and 2); the value alone matters.
        if self.word.load(Ordering::Relaxed) == token {
            self.ring(token);
        }
    }

    /// Wakes the owner whatever it sleeps for: for news that concern everybody, such as a lost peer.
    pub fn wake_any(&self, kind: FenceKind) {
        fence::light(kind);
        let token = self.word.load(Ordering::Relaxed);
        if token != AWAKE {
            self.ring(token);
        }
    }

    #[cold]
    #[inline(never)]
    fn ring(&self, token: u32) {
        // Relaxed: what was published is ordered by its own store; the word is only a bell.
        // A failure means that the owner woke by itself and will look again.
        if self
            .word
            .compare_exchange(token, AWAKE, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
        {
            self.bed.wake(&self.word);
        }
    }

    /// Owner's side: announces that it is about to sleep for `token`, looks once more, and sleeps
    /// until it is woken, `limit` has passed, or for no reason. Returns what the last look found.
    ///
    /// # Panics
    ///
    /// If `token` is [`AWAKE`].
    pub fn park<T>(
        &self,
        token: u32,
        kind: FenceKind,
        limit: Option<Duration>,
        last_look: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        assert_ne!(token, AWAKE, "a token must differ from AWAKE");
        // Relaxed: the heavy fence orders it before the last look (Invariant 1).
        self.word.store(token, Ordering::Relaxed);
        fence::heavy(kind);
        let found = if mutated!(NoLastLook) {
            None
        } else {
            last_look()
        };
        if found.is_none() {
            self.bed.sleep(&self.word, token, limit);
        }
        self.word.store(AWAKE, Ordering::Relaxed);
        found
    }
}
