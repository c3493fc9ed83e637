//! Work that takes a known time and touches no memory that others see.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Nanoseconds that a calibrated delay takes: EPCC's usual length.
pub const DELAY_NS: u64 = 100;

/// A loop of a calibrated number of additions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    turns: u32,
}

impl Delay {
    /// Finds how many additions take [`DELAY_NS`] here and now.
    ///
    /// # Cost
    ///
    /// Some milliseconds.
    pub fn calibrate() -> Delay {
        const MANY: u32 = 1 << 16;
        let many = Delay { turns: MANY };
        let took = (0..9).map(|_| {
            let start = Instant::now();
            many.wait();
            start.elapsed()
        });
        // The least time counts, since disturbances only make it longer.
        let took = took.min().unwrap_or(Duration::ZERO).as_nanos().max(1) as f64;
        let turns = DELAY_NS as f64 * f64::from(MANY) / took;
        Delay {
            turns: (turns.round() as u32).max(1),
        }
    }

    /// Runs the loop once.
    #[inline(never)]
    pub fn wait(self) {
        let mut sum = 0.0_f32;
        for turn in 0..self.turns {
            sum = black_box(sum + turn as f32);
        }
        black_box(sum);
    }
}
