//! The two lines by which a rank tells the root that it has come, or the root all that they may
//! start.

use corecast_wire::Line;
use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// How often a waiting rank polls before it looks whether the others have given up.
const POLLS: u32 = 1 << 12;

/// One number each way. Numbers only grow.
///
/// The Release stores pair with the Acquire loads of those who wait.
#[derive(Debug, Default)]
pub(super) struct SignalLines {
    /// Written by the root.
    start: Line<AtomicU64>,
    /// Written by the rank that answers.
    answer: Line<AtomicU64>,
    /// Set by a rank whose team has failed, and who will not write any more.
    given_up: AtomicBool,
}

impl SignalLines {
    pub(super) fn start(&self, number: u64) {
        self.start.store(number, Ordering::Release);
    }

    pub(super) fn answer(&self, number: u64) {
        self.answer.store(number, Ordering::Release);
    }

    /// Lets everybody through from now on.
    pub(super) fn give_up(&self) {
        // Relaxed: nothing is read that was written before.
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
