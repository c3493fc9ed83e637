//! Times short sections of code in nanoseconds, less what the timing itself takes.
//!
//! A section is closed by two readings of the cycle counter, each behind a [`settle`]. What that
//! adds depends on how the section ends:
//!
//! - with everything *done*: what an empty section takes;
//! - with something *pending*, such as a line on its way: less, because the core begins the closing
//!   reading while it waits. With `T(n)` the time of a chain of n multiplications, each of which
//!   needs the one before, this overhead is `2 T(n) - T(2n)`: the chain cancels out.
//!
//! On a 2-core KVM guest (Xeon at 2.5 GHz, November 2026) the two differ by 12 ns, a fifth of what
//! a lone message takes to receive.

use std::hint::black_box;
use std::time::Instant;

use corecast_wire::arch::{cycles, cycles_per_ns};

/// Sections behind each measured overhead.
const SECTIONS: usize = 401;

/// Links of the chain: 200 cycles where a multiplication and an addition take 4, which is longer
/// than the closing reading, and all in flight at once in a window of 200 instructions.
const LINKS: u32 = 48;

/// How a section ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// With its instructions executed.
    Done,
    /// With a load, or a fence, that still waits for a line.
    Pending,
}

/// One thread's stopwatch, calibrated where it runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopwatch {
    /// Counter ticks that the timing adds to a section that ends done.
    done: f64,
    /// The same for a section that ends pending.
    pending: f64,
    per_ns: f64,
}

impl Stopwatch {
    /// Calibrates on the hardware thread that the caller runs on.
    ///
    /// # Cost
    ///
    /// About a quarter of a millisecond.
    pub(super) fn new() -> Self {
        let mut times = [const { Vec::new() }; 3];
        // In turns, so that a change of the clock frequency meets all three.
        for _ in 0..SECTIONS {
            times[0].push(ticks(|| ()).0);
            times[1].push(ticks(|| chain(LINKS)).0);
            times[2].push(ticks(|| chain(2 * LINKS)).0);
        }
        let [done, once, twice] = times.map(median);
        Self {
            done,
            pending: (2.0 * once - twice).clamp(0.0, done),
            per_ns: cycles_per_ns(),
        }
    }

    /// Nanoseconds per message, from the ticks of `sections` sections that moved `messages`.
    ///
    /// Never 0: what is too short for the counter takes its smallest step.
    pub(super) fn per_message(
        &self,
        ticks: u64,
        tail: Tail,
        sections: usize,
        messages: usize,
    ) -> f64 {
        let overhead = match tail {
            Tail::Done => self.done,
            Tail::Pending => self.pending,
        };
        let net = ticks as f64 - overhead * sections as f64;
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

/// Keeps the core busy with one thing after another, and the compiler from shortening it.
#[inline(always)]
fn chain(links: u32) {
    let mut link: u64 = black_box(3);
    for _ in 0..links {
        link = link.wrapping_mul(link).wrapping_add(1);
    }
    black_box(link);
}

fn median(mut ticks: Vec<u64>) -> f64 {
    ticks.sort_unstable();
    ticks[ticks.len() / 2] as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_section_takes_next_to_nothing() {
        let watch = Stopwatch::new();
        assert!(watch.pending <= watch.done, "{watch:?}");
        let mut nets: Vec<f64> = (0..501)
            .map(|_| watch.per_message(ticks(|| ()).0, Tail::Done, 1, 1))
            .collect();
        nets.sort_by(f64::total_cmp);
        assert!(nets[250] > 0.0 && nets[250] < 200.0, "{} ns", nets[250]);
    }

    #[test]
    fn a_sleep_is_seen_whole() {
        let watch = Stopwatch::new();
        let nap = std::time::Duration::from_millis(5);
        let (ticks, ()) = ticks(|| std::thread::sleep(nap));
        let ns = watch.per_message(ticks, Tail::Done, 1, 1);
        assert!(ns > 4e6, "{ns} ns");
    }

    #[test]
    fn overhead_goes_and_nothing_is_free() {
        let watch = Stopwatch {
            done: 100.0,
            pending: 50.0,
            per_ns: 2.5,
        };
        assert_eq!(watch.per_message(600, Tail::Done, 2, 4), 40.0);
        assert_eq!(watch.per_message(600, Tail::Pending, 2, 4), 50.0);
        assert_eq!(watch.per_message(150, Tail::Done, 2, 4), 0.1);
    }
}
