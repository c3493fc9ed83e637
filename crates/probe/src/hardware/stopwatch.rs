//! Times short sections of code in nanoseconds, less what the timing itself takes.

use std::hint::black_box;
use std::time::Instant;

use corecast_wire::arch::{cycles, cycles_per_ns};

/// Empty sections behind the measured overhead.
const EMPTY_SECTIONS: usize = 401;

/// One thread's stopwatch, calibrated where it runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopwatch {
    /// Counter ticks of an empty section, the median.
    overhead: f64,
    per_ns: f64,
}

impl Stopwatch {
    /// Calibrates on the hardware thread that the caller runs on.
    pub(super) fn new() -> Self {
        let mut empty: Vec<u64> = (0..EMPTY_SECTIONS).map(|_| ticks(|| ()).0).collect();
        empty.sort_unstable();
        Self {
            overhead: empty[EMPTY_SECTIONS / 2] as f64,
            per_ns: cycles_per_ns(),
        }
    }

    /// Nanoseconds per message, from the ticks of `sections` sections that moved `messages`.
    ///
    /// Never 0: what is too short for the counter takes its smallest step.
    pub(super) fn per_message(&self, ticks: u64, sections: usize, messages: usize) -> f64 {
        let net = ticks as f64 - self.overhead * sections as f64;
        net.max(1.0) / self.per_ns / messages as f64
    }
}

/// Ticks that `section` takes, with the overhead, and its result.
#[inline(always)]
pub(super) fn ticks<T>(section: impl FnOnce() -> T) -> (u64, T) {
    settle();
    let start = cycles();
    let result = section();
    settle();
    (cycles().wrapping_sub(start), result)
}

/// Lets everything before finish executing before anything after begins.
///
/// The counter is not ordered with the loads around it: a wide core would read it while the lines
/// of the batch are still on their way. The system's clock is: the kernel's code in the process
/// orders its own reading (`lfence` or `rdtscp` on x86-64, `isb` on AArch64). Unlike a fence of the
/// memory model it leaves the write buffer alone, as `send` wants it.
#[inline(always)]
fn settle() {
    black_box(Instant::now());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_section_takes_next_to_nothing() {
        let watch = Stopwatch::new();
        let mut nets: Vec<f64> = (0..501)
            .map(|_| watch.per_message(ticks(|| ()).0, 1, 1))
            .collect();
        nets.sort_by(f64::total_cmp);
        assert!(nets[250] > 0.0 && nets[250] < 200.0, "{} ns", nets[250]);
    }

    #[test]
    fn a_sleep_is_seen_whole() {
        let watch = Stopwatch::new();
        let nap = std::time::Duration::from_millis(5);
        let (ticks, ()) = ticks(|| std::thread::sleep(nap));
        let ns = watch.per_message(ticks, 1, 1);
        assert!(ns > 4e6, "{ns} ns");
    }

    #[test]
    fn nothing_is_free() {
        let watch = Stopwatch {
            overhead: 100.0,
            per_ns: 2.5,
        };
        assert_eq!(watch.per_message(600, 2, 4), 40.0);
        assert_eq!(watch.per_message(150, 2, 4), 0.1);
    }
}
