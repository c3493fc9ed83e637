//! A thread's clock: the cycle counter where it is steady, the system's clock elsewhere.

use std::time::Instant;

use corecast_wire::{arch, microbench};

use super::settle::mean;

/// Readings behind the time that an empty section takes.
const READINGS: usize = 401;

/// A thread's timer, made on the thread that uses it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    /// The system's clock, where there is no steady counter.
    clock: Option<Instant>,
    per_ns: f64,
    /// Ticks between two readings with nothing between them.
    empty: f64,
}

impl Timer {
    pub(super) fn new() -> Self {
        Self::told_by(microbench::counter_is_steady())
    }

    fn told_by(counter: bool) -> Self {
        let mut timer = Self {
            clock: (!counter).then(Instant::now),
            per_ns: if counter { arch::cycles_per_ns() } else { 1.0 },
            empty: 0.0,
        };
        let mut last = timer.now();
        let empty = (0..READINGS).map(|_| {
            let before = std::mem::replace(&mut last, timer.now());
            last.wrapping_sub(before) as f64
        });
        // A mean, as the counter may tick in steps that are longer than this.
        timer.empty = mean(&empty.collect::<Vec<_>>());
        timer
    }

    /// Returns the ticks now. Loads before have finished, those after have not begun.
    #[inline(always)]
    pub(super) fn now(&self) -> u64 {
        match self.clock {
            None => microbench::stamp(),
            Some(start) => start.elapsed().as_nanos() as u64,
        }
    }

    /// Returns the nanoseconds of the section between two readings, without the time of the readings.
    pub(super) fn ns(&self, start: u64, end: u64) -> f64 {
        (end.wrapping_sub(start) as f64 - self.empty) / self.per_ns
    }

    /// Returns a reading in nanoseconds, which can be compared with those of threads that share the
    /// counter.
    pub(super) fn at_ns(&self, reading: u64) -> f64 {
        reading as f64 / self.per_ns
    }

    /// Returns the number of ticks in this many nanoseconds.
    pub(super) fn ticks(&self, ns: f64) -> u64 {
        (ns * self.per_ns) as u64
    }

    /// Returns the ticks per nanosecond between `start` and now, which are `elapsed` apart by the
    /// system's clock.
    pub(super) fn rate(&self, start: u64, elapsed: std::time::Duration) -> f64 {
        let ns = elapsed.as_nanos().max(1) as f64;
        self.now().wrapping_sub(start) as f64 / ns
    }

    /// Whether the readings of two threads can be compared, because both read one counter.
    pub(super) fn is_common(&self) -> bool {
        self.clock.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_see_a_sleep() {
        for counter in [true, false] {
            let timer = Timer::told_by(counter);
            let start = timer.now();
            std::thread::sleep(std::time::Duration::from_millis(2));
            let ns = timer.ns(start, timer.now());
            assert!(ns > 1.5e6, "counter {counter}: {ns} ns");
            assert_eq!(timer.is_common(), counter);
            let back = timer.ticks(ns) as f64 / timer.per_ns;
            assert!((back - ns).abs() < 10.0, "{back} {ns}");
        }
    }
}
