//! The two lines by which a rank tells the root that it has come, or the root all that they may
//! start.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Two cache lines apart, since x86 prefetchers fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line(AtomicU64);

/// How often a waiting rank polls before it looks whether the others have given up.
const POLLS: u32 = 1 << 12;

/// One number each way. Numbers only grow.
///
/// The Release stores pair with the Acquire loads of those who wait.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Written by the root.
    start: Line,
    /// Written by the rank that answers.
    answer: Line,
    /// Set by a rank whose team has failed, and who will not write any more.
    given_up: AtomicBool,
}

impl Lines {
    pub(super) fn start(&self, number: u64) {
        self.start.0.store(number, Ordering::Release);
    }

    pub(super) fn answer(&self, number: u64) {
        self.answer.0.store(number, Ordering::Release);
    }

    /// Lets everybody through from now on.
    pub(super) fn give_up(&self) {
        // Relaxed: nothing is read that was written before.
        self.given_up.store(true, Ordering::Relaxed);
    }

    /// Waits for the root's `number`, or more.
    #[inline(always)]
    pub(super) fn await_start(&self, number: u64, crowded: bool) {
        self.wait(&self.start, number, crowded);
    }

    /// Waits for the answer `number`, or more.
    #[inline(always)]
    pub(super) fn await_answer(&self, number: u64, crowded: bool) {
        self.wait(&self.answer, number, crowded);
    }

    #[inline(always)]
    fn wait(&self, line: &Line, number: u64, crowded: bool) {
        loop {
            for _ in 0..POLLS {
                if line.0.load(Ordering::Acquire) >= number {
                    return;
                }
                if crowded {
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
