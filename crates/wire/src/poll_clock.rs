//! The clock of a thread that polls for events and does other things in between.

use crate::arch;
use std::cell::Cell;
use std::time::Duration;

/// The clock of a thread that polls for an event and does other things in between. It says when to ask a
/// [`Watch`](crate::wait::Watch), as a wait would, and for how long polls have found nothing.
///
/// Of the time between two polls at most 5 ms count: whoever computes meanwhile does not see what comes, so the rest says
/// nothing about those who are waited for.
///
/// # Examples
///
/// ```
/// use corecast_wire::wait::PollClock;
/// use std::time::Duration;
///
/// let clock = PollClock::default();
/// assert_eq!(clock.vain(), None, "the first poll in vain starts it");
/// let waited = loop {
///     if let Some(waited) = clock.vain() {
///         break waited;
///     }
/// };
/// assert!(waited > Duration::ZERO);
/// ```
#[derive(Debug, Default)]
pub struct PollClock {
    /// The cycle counter at the last poll, if that was in vain.
    polled: Cell<Option<u64>>,
    /// The ticks that count since the first poll in vain after the last progress.
    waited: Cell<u64>,
    /// The cycle counter when the watch was asked last.
    asked: Cell<u64>,
}

/// Time between two questions to the watch of a thread that polls, which read lines that peers write. Polls are told of
/// a lost peer about as soon as a wait that sleeps is.
const QUESTION_NS: f64 = 100_000.0;

/// The most that counts of the time between two polls. It is longer than the turn that another thread takes of the CPU.
const GAP_NS_MAX: f64 = 5_000_000.0;

impl PollClock {
    /// Begins anew, because something has come.
    #[inline]
    pub fn restart(&self) {
        self.polled.set(None);
    }

    /// Is called after each poll that has found nothing. Returns for how long polls have found nothing, if it is time to
    /// ask the watch.
    ///
    /// # Cost
    ///
    /// One read of the cycle counter.
    pub fn vain(&self) -> Option<Duration> {
        // A model has no time.
        if cfg!(loom) {
            return Some(Duration::ZERO);
        }
        self.vain_at(arch::cycles(), arch::cycles_per_ns())
    }

    /// [`vain`](Self::vain) at time `now` of a counter with that many ticks per nanosecond.
    fn vain_at(&self, now: u64, rate: f64) -> Option<Duration> {
        let ticks = |ns: f64| (ns * rate) as u64;
        let Some(before) = self.polled.replace(Some(now)) else {
            self.waited.set(0);
            self.asked.set(now);
            return None;
        };
        let gap = now.wrapping_sub(before).min(ticks(GAP_NS_MAX));
        let waited = self.waited.get() + gap;
        self.waited.set(waited);
        if now.wrapping_sub(self.asked.get()) < ticks(QUESTION_NS) {
            return None;
        }
        self.asked.set(now);
        Some(Duration::from_nanos((waited as f64 / rate) as u64))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Polls in vain at each of these times in milliseconds, and returns the answer to the last one in milliseconds.
    fn told(clock: &PollClock, times: impl IntoIterator<Item = u64>) -> Option<u128> {
        // Two ticks per nanosecond.
        let polls = times.into_iter().map(|ms| clock.vain_at(2 * ms * MS, 2.0));
        polls.last().flatten().map(|waited| waited.as_millis())
    }

    #[test]
    fn polls_without_pause_count_all_of_the_time() {
        let clock = PollClock::default();
        assert_eq!(told(&clock, [7]), None);
        assert_eq!(told(&clock, 8..=1007), Some(1000));
    }

    #[test]
    fn of_a_pause_some_milliseconds_count() {
        let clock = PollClock::default();
        assert_eq!(told(&clock, [0, 60_000]), Some(5));
        assert_eq!(told(&clock, [60_003, 90_000]), Some(13));
        // The counter of another processor may be behind.
        assert_eq!(told(&clock, [89_999]), Some(18));
    }

    #[test]
    fn progress_begins_anew() {
        let clock = PollClock::default();
        assert_eq!(told(&clock, 0..=900), Some(900));
        clock.restart();
        assert_eq!(told(&clock, [901]), None);
        assert_eq!(told(&clock, [904]), Some(3));
    }

    #[test]
    fn the_watch_is_asked_ten_times_a_millisecond_at_most() {
        let clock = PollClock::default();
        let polls = (0..=MS).step_by(1000);
        let asked = polls.filter_map(|ns| clock.vain_at(ns, 1.0)).count();
        assert_eq!(asked, 10);
    }
}
