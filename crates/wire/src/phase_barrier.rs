//! Phase barriers, like C++20's `std::barrier`: barriers without ranks whose members may change from phase
//! to phase.
//!
//! One word holds the state:
//!
//! ```text
//!  63            33  32        31              0
//! ┌────────────────┬──────────┬─────────────────┐
//! │     phase      │ sleepers │ 2³¹ − missing   │
//! └────────────────┴──────────┴─────────────────┘
//! ```
//!
//! | who | does | by |
//! | --- | --- | --- |
//! | a thread that arrives | adds itself; the one that makes the count 2³¹ is the last one | one addition |
//! | the last one | completes the phase, then begins the next one | one exchange |
//! | a thread that waits | polls the phase; before it sleeps it sets the mark, in the same phase | a comparison and exchange |
//!
//! **Invariant 1:** between the addition that makes the count 2³¹ and the exchange, nobody arrives but by
//! mistake, so the last one is alone with whatever it completes.
//!
//! **Invariant 2:** the mark of a sleeper and the beginning of the next phase are changes of one word, so one of
//! them sees the other: the last one finds every mark of its phase, and no mark is set in a phase that is over.
//! Where no thread sleeps, no thread pays for sleepers.
//!
//! **Invariant 3:** a sleeper has read the bell before it marks, or finds a mark, in its phase; the bell is
//! rung after the phase is over. So what it has read is never the value after that ring, and the kernel
//! lets nobody sleep for a value that is gone.
//!
//! Additions that are too many are taken back, and change no phase: the phase is in the upper half, which
//! they do not reach.

use crate::Line;
use crate::futex::FutexWord;
use crate::sync::{AtomicU32, AtomicU64, Ordering, order};
use crate::wait::{Pace, WaitConfig};
use std::time::Duration;

/// A barrier without ranks; arrival and wait are separate calls.
#[derive(Debug)]
pub struct PhaseBarrier {
    word: Line<AtomicU64>,
    /// The number of threads that are expected from the next phase on.
    next: AtomicU64,
    bell: AtomicU32,
    futex_word: FutexWord,
    pace: Pace,
    /// The number of threads that were expected at first. No call has more arrivals.
    most: u32,
}

/// The phase of an arrival, by which the caller can wait for its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "whoever has arrived waits with it, or leaves it to others"]
pub struct Arrival(u32);

impl Arrival {
    /// The phase's number, below 2³¹.
    pub fn phase(self) -> u32 {
        self.0
    }

    /// The arrival of a phase by its number.
    ///
    /// # Panics
    ///
    /// If it is 2³¹ or more.
    pub fn of_phase(phase: u32) -> Self {
        assert!(phase < 1 << 31, "no phase has the number {phase}");
        Self(phase)
    }
}

/// The error of an arrival of more threads than are expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{arrivals} arrive where {missing} are missing: expect more from the beginning")]
pub struct TooMany {
    /// The arrivals of the call.
    pub arrivals: u32,
    /// The arrivals that were missing.
    pub missing: u32,
}

/// The count when nobody is missing.
const FULL: u64 = 1 << 31;
const SLEEPERS: u64 = 1 << 32;
const PHASE_SHIFT: u32 = 33;
const PHASE_MASK: u32 = (1 << 31) - 1;

/// First timeout of a sleep; correctness does not depend on it.
const FIRST_NAP: Duration = Duration::from_millis(200);
const LONGEST_NAP: Duration = Duration::from_secs(5);

fn phase(word: u64) -> u32 {
    (word >> PHASE_SHIFT) as u32
}

/// Begins the next phase, also when what completes this one panics.
struct Opening<'a>(&'a PhaseBarrier, u32);

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        self.0.open(self.1);
    }
}

impl PhaseBarrier {
    /// The most threads that a barrier can expect.
    pub const MOST: u32 = (FULL - 1) as u32;

    /// A phase barrier for `expected` threads in each phase, which wait by `wait_config`.
    ///
    /// # Panics
    ///
    /// If `expected` is above [`PhaseBarrier::MOST`].
    pub fn new(expected: u32, wait_config: WaitConfig) -> Self {
        assert!(
            expected <= Self::MOST,
            "a phase barrier for {expected}: at most {} can come",
            Self::MOST
        );
        Self {
            word: Line(AtomicU64::new(FULL - u64::from(expected))),
            next: AtomicU64::new(expected.into()),
            bell: AtomicU32::new(0),
            futex_word: Default::default(),
            pace: Pace::new(wait_config),
            most: expected,
        }
    }

    /// Counts `arrivals` arrivals. The last thread of a phase runs `complete` before any goes on: it sees
    /// what all did before they arrived, and all that wait for the phase see what it did.
    ///
    /// # Errors
    ///
    /// [`TooMany`] if more arrive than are expected; the call then has no effect.
    ///
    /// # Panics
    ///
    /// If `arrivals` is 0.
    ///
    /// # Cost
    ///
    /// One transfer of a cache line, from the thread that arrived before.
    #[inline]
    pub fn arrive(&self, arrivals: u32, complete: impl FnOnce()) -> Result<Arrival, TooMany> {
        assert!(arrivals > 0, "nobody arrives");
        if arrivals > self.most {
            let missing = self.most;
            return Err(TooMany { arrivals, missing });
        }
        let before = self.word.fetch_add(arrivals.into(), order::come());
        let (count, phase) = (before & (SLEEPERS - 1), phase(before));
        let now = count + u64::from(arrivals);
        if now > FULL {
            // Relaxed: an addition that is taken back publishes nothing.
            self.word.fetch_sub(arrivals.into(), Ordering::Relaxed);
            let missing = FULL.saturating_sub(count) as u32;
            return Err(TooMany { arrivals, missing });
        }
        if now == FULL {
            let _opening = Opening(self, phase);
            complete();
        }
        Ok(Arrival(phase))
    }

    /// Begins the next phase.
    fn open(&self, phase: u32) {
        // Relaxed: a thread that leaves lowers this number before it arrives, and the last one has seen all
        // arrivals.
        let expected = self.next.load(Ordering::Relaxed);
        let next = u64::from(phase.wrapping_add(1) & PHASE_MASK);
        let word = next << PHASE_SHIFT | (FULL - expected);
        let before = self.word.swap(word, order::open());
        if before & SLEEPERS != 0 {
            // Release: synchronises with the load in `sleep` (Invariant 3).
            self.bell.fetch_add(1, order::ring());
            self.futex_word.wake_all(&self.bell);
        }
    }

    /// Arrives once, and lowers the number of expected threads by one from the next phase on.
    ///
    /// # Errors
    ///
    /// As [`arrive`](Self::arrive).
    pub fn arrive_and_drop(&self, complete: impl FnOnce()) -> Result<(), TooMany> {
        // Relaxed: the arrival that follows publishes this to the last one.
        let before = self.next.fetch_sub(1, Ordering::Relaxed);
        let arrived = match before {
            0 => Err(TooMany {
                arrivals: 1,
                missing: 0,
            }),
            _ => self.arrive(1, complete),
        };
        match arrived {
            Ok(_) => Ok(()),
            Err(too_many) => {
                // Relaxed: a call without effect publishes nothing.
                self.next.fetch_add(1, Ordering::Relaxed);
                Err(too_many)
            }
        }
    }

    /// Whether the phase of `arrival` is over.
    #[inline(always)]
    pub fn is_over(&self, arrival: Arrival) -> bool {
        // Acquire: synchronises with the exchange in `open`.
        phase(self.word.load(order::pass())) != arrival.0
    }

    /// Waits until the phase of `arrival`, which is the current one or the one before, is over.
    ///
    /// # Cost
    ///
    /// Two reads of the line, after the last arrival and after the beginning of the next phase; one if it
    /// does not poll between them.
    #[inline]
    pub fn wait(&self, arrival: Arrival) {
        let over = || self.is_over(arrival).then_some(());
        if over().is_none() && self.pace.spin(over).is_none() {
            self.wait_long(arrival);
        }
    }

    #[cold]
    #[inline(never)]
    fn wait_long(&self, arrival: Arrival) {
        if self.pace.take_turns(|| self.is_over(arrival)) {
            return;
        }
        let mut nap = FIRST_NAP;
        while !self.is_over(arrival) {
            self.sleep(arrival, nap);
            nap = (nap * 2).min(LONGEST_NAP);
        }
    }

    fn sleep(&self, arrival: Arrival, nap: Duration) {
        // Acquire: synchronises with the ring in `open`. A thread that reads the value after a ring finds the
        // phase over (Invariant 3).
        let bell = self.bell.load(order::hear());
        // Acquire: as in `is_over`.
        let mut word = self.word.load(order::pass());
        loop {
            if phase(word) != arrival.0 {
                return;
            }
            if word & SLEEPERS != 0 {
                break;
            }
            let marked = word | SLEEPERS;
            // Release: the bell was read before (Invariant 3). Partner: the exchange in `open`.
            let set = self
                .word
                .compare_exchange(word, marked, order::come(), order::pass());
            match set {
                Ok(_) => break,
                Err(other) => word = other,
            }
        }
        self.futex_word.sleep(&self.bell, bell, Some(nap), false);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
