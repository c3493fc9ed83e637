//! [`Parker`]: a futex word on which one thread sleeps, and by which others learn that it sleeps.
//!
//! A thread mostly waits for one event, which a *token* names. A thread that waits for several at
//! once sleeps for [`ANY`]. The word is [`AWAKE`] or the token of what its owner is about to sleep
//! for:
//!
//! | word | owner | a publisher of `token` |
//! | --- | --- | --- |
//! | `AWAKE` | runs | sees it in its own shared copy of the line: nothing to do |
//! | `token` | looks once more, then sleeps | swaps it to `AWAKE` and rings |
//! | `ANY` | looks at everything once more, then sleeps | swaps it to `AWAKE` and rings |
//! | another token | sleeps for something else | nothing to do |
//! | bytes that nobody wrote | any of these | nothing to do |
//!
//! The dangerous interleaving: the owner looks (nothing there), the publisher publishes and looks
//! (nobody sleeps), the owner sleeps for ever. It needs both looks to precede both stores in the
//! eyes of the other. **Invariant 1:** the owner stores its token, passes the heavy fence, and
//! only then takes its last look. **Invariant 2:** the publisher publishes, passes the light
//! fence, and only then loads the word. With the two fences at least one of them sees the other.
//!
//! The word may lie in memory that processes share, and a process may end between any two stores.
//! **Invariant 3:** a value of the word is only ever compared. So odd bytes cost a sleeper its
//! wake-up at worst, and its nap has an end. A waker that was killed after its swap and before its
//! ring leaves a sleeper whose word says `AWAKE`: [`Parker::wake_any`] rings such a one as well.
//!
//! Where the kernel refuses the heavy fence to a process that relied on it, both looks may miss the other's store. The
//! owner then sleeps for [`fence::UNORDERED_NAP`] at most, and looks again.

use crate::fence::{self, FenceKind, UNORDERED_NAP};
use crate::futex::FutexWord;
use crate::line::Line;
use crate::segment::Lines;
use crate::sync::{AtomicU32, Ordering, mutated};
use std::time::Duration;

/// The word while the owner runs. Tokens are any other value.
pub const AWAKE: u32 = 0;

/// The token of an owner that waits for several things at once: every publisher rings.
pub const ANY: u32 = u32::MAX;

/// The word on which a thread sleeps. Only its owner sleeps on it, and any thread may wake it.
#[derive(Debug, Default)]
pub struct Parker {
    word: AtomicU32,
    futex_word: FutexWord,
}

// SAFETY: one atomic integer, of which any value is valid (AWAKE is zero; a word that nobody wrote
// is only ever compared, Invariant 3); `FutexWord` is empty outside of models.
unsafe impl Lines for Line<Parker> {}

impl Parker {
    /// Publisher's side, after publishing what `token` names: wakes the owner if it sleeps for it,
    /// or for [`ANY`].
    ///
    /// # Cost
    ///
    /// One load of a line that stays shared while the owner runs; a system call if it sleeps.
    #[inline(always)]
    pub fn wake_for(&self, token: u32, kind: FenceKind) {
        if let Some(word) = self.asleep(kind) {
            self.knock(word, token, kind);
        }
    }

    /// Whether the owner runs, so that [`wake_for`](Self::wake_for) would do nothing. It is for the publisher, who has published.
    #[inline(always)]
    pub fn is_awake(&self, kind: FenceKind) -> bool {
        self.asleep(kind).is_none()
    }

    /// What the owner sleeps for, or is about to.
    #[inline(always)]
    fn asleep(&self, kind: FenceKind) -> Option<u32> {
        fence::light(kind);
        // Relaxed: ordered by the fences (Invariants 1 and 2); the value alone matters.
        Some(self.word.load(Ordering::Relaxed)).filter(|&word| word != AWAKE)
    }

    /// Wakes the owner whatever it sleeps for, as for a lost peer.
    ///
    /// # Cost
    ///
    /// One load, and a system call if the owner sleeps; between processes always a system call.
    pub fn wake_any(&self, kind: FenceKind) {
        if let Some(word) = self.asleep(kind) {
            self.ring(word, kind);
        }
        if kind.is_shared() && !mutated!(RingTheAnnouncedOnly) {
            // The sleeper may have lost the ring that was meant for it (Invariant 3).
            self.futex_word.wake(&self.word, true);
        }
    }

    /// Slow path: the owner sleeps or is about to; wakes it if it waits for `token`.
    #[cold]
    #[inline(never)]
    fn knock(&self, word: u32, token: u32, kind: FenceKind) {
        if word == token || (word == ANY && !mutated!(AnyUnheard)) {
            self.ring(word, kind);
        }
    }

    #[cold]
    #[inline(never)]
    fn ring(&self, word: u32, kind: FenceKind) {
        // Relaxed: what was published is ordered by its own store; the word is only a bell.
        // A failure means that the owner woke by itself and will look again.
        if self
            .word
            .compare_exchange(word, AWAKE, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
        {
            self.futex_word.wake(&self.word, kind.is_shared());
        }
    }

    /// Owner's side: announces that it is about to sleep for `token`, looks once more, and sleeps
    /// until it is woken, `limit` has passed, or it wakes spuriously. Returns what the last look
    /// found.
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
        let ordered = fence::heavy(kind);
        let found = if mutated!(NoLastLook) {
            None
        } else {
            last_look()
        };
        if found.is_none() {
            let limit = match ordered {
                true => limit,
                false => Some(limit.map_or(UNORDERED_NAP, |limit| limit.min(UNORDERED_NAP))),
            };
            self.futex_word
                .sleep(&self.word, token, limit, kind.is_shared());
        }
        self.word.store(AWAKE, Ordering::Relaxed);
        found
    }

    /// Leaves the word as a waker does that is killed before it rings, for models. Returns whether
    /// the owner was about to sleep, or slept.
    #[cfg(loom)]
    pub fn swap_without_ring(&self) -> bool {
        // Relaxed: as in `ring`.
        self.word.swap(AWAKE, Ordering::Relaxed) != AWAKE
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
