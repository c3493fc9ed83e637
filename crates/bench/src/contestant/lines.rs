//! Two cache lines: on one the root tells all ranks that they may start, on the other a rank tells
//! the root that it has the data.

use corecast_wire::Line;
use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Polls of a waiting rank before it looks whether a rank has given up.
const POLLS: u32 = 1 << 12;

/// One number in each direction. Numbers only grow.
///
/// The Release stores pair with the Acquire loads of the waiting ranks.
#[derive(Debug, Default)]
pub(super) struct SignalLines {
    /// Written by the root.
    start: Line<AtomicU64>,
    /// Written by the rank that answers.
    answer: Line<AtomicU64>,
    /// Set by a rank whose team has failed, and which writes no more numbers.
    given_up: AtomicBool,
}

impl SignalLines {
    pub(super) fn start(&self, number: u64) {
        self.start.store(number, Ordering::Release);
    }

    pub(super) fn answer(&self, number: u64) {
        self.answer.store(number, Ordering::Release);
    }

    /// Lets all ranks through from now on, whatever number they wait for.
    pub(super) fn give_up(&self) {
        // Relaxed: no data are published by the flag.
        self.given_up.store(true, Ordering::Relaxed);
    }

    /// Waits for the root's `number`, or more.
    #[inline(always)]
    pub(super) fn await_start(&self, number: u64, oversubscribed: bool) {
        self.wait(&self.start, number, oversubscribed);
    }

    /// Waits for the answer `number`, or more.
    #[inline(always)]
    pub(super) fn await_answer(&self, number: u64, oversubscribed: bool) {
        self.wait(&self.answer, number, oversubscribed);
    }

    #[inline(always)]
    fn wait(&self, line: &AtomicU64, number: u64, oversubscribed: bool) {
        loop {
            for _ in 0..POLLS {
                if line.load(Ordering::Acquire) >= number {
                    return;
                }
                if oversubscribed {
                    thread::yield_now();
                } else {
                    hint::spin_loop();
                }
            }
            if self.given_up.load(Ordering::Relaxed) {
                return;
            }
        }
    }
}
