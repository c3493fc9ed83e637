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
//! | a thread that arrives for many | adds them if as many are missing | a comparison and exchange |
//! | the last one | completes the phase, then begins the next one | one exchange |
//! | a thread that came too late for its phase | takes its addition back, in the same phase | a comparison and exchange |
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
//! **Invariant 4:** an arrival is added without a look only if it is one arrival. So an addition is too many only
//! where nobody is missing: no other arrival of the phase is refused for its sake. It is taken back in its own phase
//! alone, because the exchange that begins the next one discards it. The dangerous interleaving: a thread adds
//! itself where nobody is missing, the last one begins the next phase, and the thread subtracts one from *that*
//! phase, in which one arrival more than expected is then missing for ever.
//!
//! **Invariant 5:** at most one addition of each running thread is too many, and there are fewer than 2³¹ threads.
//! So the count never reaches the upper half.
//!
//! **Invariant 6:** a thread that leaves lowers the number of the next phases only after its arrival was accepted.
//! The last one may come between the two, so a thread announces itself before it arrives, and the last one begins
//! the next phase when all that have announced themselves have lowered the number, or were refused. No thread
//! announces itself when nobody is missing, so that wait is over after a few instructions of each.

use crate::Line;
use crate::futex::FutexWord;
use crate::hardware_wait::Monitored;
use crate::sync::{AtomicU32, AtomicU64, Ordering, mutated, order, yield_now};
use crate::wait::{Pace, WaitConfig};
use std::time::Duration;

/// A barrier without ranks; arrival and wait are separate calls.
#[derive(Debug)]
pub struct PhaseBarrier {
    word: Line<AtomicU64>,
    /// The number of threads that are expected from the next phase on, and [`LEAVER`] times the threads that
    /// are about to lower it.
    next: AtomicU64,
    bell: AtomicU32,
    futex_word: FutexWord,
    pace: Pace,
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
/// One thread that is about to lower [`PhaseBarrier::next`].
const LEAVER: u64 = 1 << 32;

/// First timeout of a sleep; correctness does not depend on it.
const FIRST_NAP: Duration = Duration::from_millis(200);
const LONGEST_NAP: Duration = Duration::from_secs(5);

fn phase(word: u64) -> u32 {
    (word >> PHASE_SHIFT) as u32
}

fn count(word: u64) -> u64 {
    word & (SLEEPERS - 1)
}

/// The error of `arrivals` that find `word`.
fn too_many(word: u64, arrivals: u32) -> TooMany {
    let missing = FULL.saturating_sub(count(word)) as u32;
    TooMany { arrivals, missing }
}

/// An arrival that was accepted.
#[derive(Clone, Copy)]
struct Come {
    is_last: bool,
    phase: u32,
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
        }
    }

    /// Counts `arrivals` arrivals. The last thread of a phase runs `complete` before any goes on: it sees
    /// what all did before they arrived, and all that wait for the phase see what it did.
    ///
    /// # Errors
    ///
    /// [`TooMany`] if more arrive than are missing; the call then has no effect, on this phase or a later one.
    ///
    /// # Panics
    ///
    /// If `arrivals` is 0.
    ///
    /// # Cost
    ///
    /// One transfer of a cache line, from the thread that arrived before. A call for several arrivals may need more
    /// while others arrive.
    #[inline]
    pub fn arrive(&self, arrivals: u32, complete: impl FnOnce()) -> Result<Arrival, TooMany> {
        assert!(arrivals > 0, "nobody arrives");
        let come = self.come(arrivals)?;
        self.complete_if_last(come, complete);
        Ok(Arrival(come.phase))
    }

    /// Adds arrivals to the phase.
    #[inline]
    fn come(&self, arrivals: u32) -> Result<Come, TooMany> {
        if arrivals > 1 && !mutated!(ManyAddFirst) {
            return self.come_for_many(arrivals);
        }
        let before = self.word.fetch_add(arrivals.into(), order::come());
        let now = count(before) + u64::from(arrivals);
        if now > FULL {
            return Err(self.take_back(before, arrivals));
        }
        let (is_last, phase) = (now == FULL, phase(before));
        Ok(Come { is_last, phase })
    }

    fn come_for_many(&self, arrivals: u32) -> Result<Come, TooMany> {
        // Relaxed: compared below.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let now = count(word) + u64::from(arrivals);
            if now > FULL {
                return Err(too_many(word, arrivals));
            }
            // Relaxed for a failure: it is compared again.
            let set = self.word.compare_exchange(
                word,
                word + u64::from(arrivals),
                order::come(),
                Ordering::Relaxed,
            );
            match set {
                Ok(_) => {
                    let (is_last, phase) = (now == FULL, phase(word));
                    return Ok(Come { is_last, phase });
                }
                Err(other) => word = other,
            }
        }
    }

    /// Takes back an addition to `before` that was too many, unless its phase is over (Invariant 4).
    #[cold]
    #[inline(never)]
    fn take_back(&self, before: u64, arrivals: u32) -> TooMany {
        // All accesses are Relaxed: an addition that is taken back publishes nothing, and an exchange continues
        // the release sequences of the arrivals before it.
        let mut word = self.word.load(Ordering::Relaxed);
        while phase(word) == phase(before) || mutated!(TakeBackAnyway) {
            let less = word - u64::from(arrivals);
            let (set, not_set) = (Ordering::Relaxed, Ordering::Relaxed);
            match self.word.compare_exchange(word, less, set, not_set) {
                Ok(_) => break,
                Err(other) => word = other,
            }
        }
        too_many(before, arrivals)
    }

    #[inline]
    fn complete_if_last(&self, come: Come, complete: impl FnOnce()) {
        if come.is_last {
            let _opening = Opening(self, come.phase);
            complete();
        }
    }

    /// Begins the next phase.
    fn open(&self, phase: u32) {
        // Relaxed: a thread that leaves announces itself before it arrives, and the last one has seen all arrivals
        // (Invariant 6). The number and the announcements are one word.
        let mut next = self.next.load(Ordering::Relaxed);
        while next >= LEAVER && !mutated!(LeaversUnawaited) {
            yield_now();
            next = self.next.load(Ordering::Relaxed);
        }
        let expected = next % LEAVER;
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
    ///
    /// # Cost
    ///
    /// That of an arrival, and of two changes of another line.
    pub fn arrive_and_drop(&self, complete: impl FnOnce()) -> Result<(), TooMany> {
        // Relaxed: the arrival below decides. This look spares the last thread a wait (Invariant 6).
        let word = self.word.load(Ordering::Relaxed);
        if count(word) >= FULL {
            return Err(too_many(word, 1));
        }
        // Relaxed: the arrival publishes this to the last one.
        self.next.fetch_add(LEAVER, Ordering::Relaxed);
        let come = self.come(1);
        // Relaxed: the last one reads this word until no announcement is left in it.
        let accepted = u64::from(come.is_ok());
        self.next.fetch_sub(LEAVER + accepted, Ordering::Relaxed);
        self.complete_if_last(come?, complete);
        Ok(())
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
        let word = Monitored::new(&self.word);
        if self.pace.take_turns(word, || self.is_over(arrival)) {
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
