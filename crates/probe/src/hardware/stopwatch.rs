//! Times short sections of code in nanoseconds, less what the timing itself takes.
//!
//! A section lies between two readings of the cycle counter, each behind a [`settle`]. What that
//! adds is measured where it occurs: every lap times as many *empty* sections as full ones, with
//! the same instructions at the same addresses, and takes the difference. An overhead from a loop
//! of its own would be wrong by as much as a message costs to send.
//!
//! A section that ends *pending*, with a line on its way, takes less than its empty reference adds, as
//! the core begins the closing reading while it waits. This overlap is measured with `T(n)`, the
//! time of a chain of n multiplications each of which needs the one before: `T(0)` adds the whole
//! overhead, `2 T(n) - T(2n)` the overhead less the overlap, and the chain cancels out. On a 2-core
//! KVM guest (Xeon at 2.5 GHz, November 2026, a test here prints it) it is 0 to 12 ns, where a lone
//! message takes 60 to receive. There the result agrees with readings between `lfence` instructions
//! within 1 ns a message in batches of 8, and reads 3 to 5 ns low for a lone one.

use std::hint::black_box;
use std::time::Instant;

use corecast_wire::arch::{cycles, cycles_per_ns};

/// Sections behind each time of the chain.
const SECTIONS: usize = 401;

/// Links of the chain: 200 cycles where a multiplication and an addition take 4, which is longer
/// than the closing reading, and all in flight at once in a window of 200 instructions.
const LINKS: u32 = 48;

/// The way in which a section ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// All its instructions have been executed.
    Done,
    /// A load or a fence still waits for a line.
    Pending,
}

/// One thread's stopwatch, calibrated where it runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopwatch {
    /// Counter ticks by which a section with [`Tail::Pending`] adds less than an empty one.
    overlap: f64,
    per_ns: f64,
}

/// Counter ticks of the full sections of a lap, and of the same number of empty ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lap {
    pub(super) full: u64,
    pub(super) empty: u64,
    pub(super) sections: u32,
}

impl Stopwatch {
    /// Calibrates on the hardware thread that the caller runs on.
    ///
    /// # Cost
    ///
    /// About a quarter of a millisecond.
    pub(super) fn new() -> Self {
        let mut times = [const { Vec::new() }; 3];
        // The sections alternate, so that a change of the clock frequency affects all three.
        for _ in 0..SECTIONS {
            for (times, links) in times.iter_mut().zip([0, LINKS, 2 * LINKS]) {
                times.push(timed_chain(links));
            }
        }
        let [none, once, twice] = times.map(median);
        Self {
            overlap: (none - (2.0 * once - twice)).clamp(0.0, none),
            per_ns: cycles_per_ns(),
        }
    }

    /// Returns the nanoseconds per message of a lap that moved `messages`.
    ///
    /// The result is never 0: a time too short for the counter counts as its smallest step.
    pub(super) fn per_message(&self, lap: Lap, tail: Tail, messages: usize) -> f64 {
        let overlap = match tail {
            Tail::Done => 0.0,
            Tail::Pending => self.overlap * f64::from(lap.sections),
        };
        let net = lap.full as f64 - lap.empty as f64 + overlap;
        net.max(1.0) / self.per_ns / messages as f64
    }
}

impl Lap {
    /// Times `section` told to do nothing, and told to do everything. One more empty section goes
    /// before both and does not count, because the code that follows a long wait runs cold.
    ///
    /// # Errors
    ///
    /// Those of the section.
    #[inline(always)]
    pub(super) fn time<E>(
        &mut self,
        count: usize,
        mut section: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut found = [0; 3];
        // All three run in one loop, so that they are the same instructions.
        for (found, count) in found.iter_mut().zip([0, 0, count]) {
            let count = black_box(count);
            let (ticks, result) = ticks(|| section(count));
            result?;
            *found = ticks;
        }
        self.empty += found[1];
        self.full += found[2];
        self.sections += 1;
        Ok(())
    }
}

/// Returns the ticks that `section` takes, with the overhead, and its result.
#[inline(always)]
fn ticks<T>(section: impl FnOnce() -> T) -> (u64, T) {
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

/// Returns the ticks of a chain of multiplications, each of which needs the one before.
#[inline(never)]
fn timed_chain(links: u32) -> u64 {
    ticks(|| chain(links)).0
}

/// Executes a chain of multiplications, each of which needs the one before.
#[inline(always)]
pub(crate) fn chain(links: u32) {
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
    use std::convert::Infallible;

    #[test]
    fn a_sleep_is_seen_whole() {
        let watch = Stopwatch::new();
        let mut lap = Lap::default();
        let nap = std::time::Duration::from_millis(1);
        let Ok(()) = lap.time(5, |count| {
            (0..count).for_each(|_| std::thread::sleep(nap));
            Ok::<_, Infallible>(())
        });
        let ns = watch.per_message(lap, Tail::Done, 5);
        assert!(ns > 0.9e6, "{ns} ns");
    }

    #[test]
    fn the_overlap_is_part_of_the_overhead() {
        let watch = Stopwatch::new();
        let overlap_ns = watch.overlap / watch.per_ns;
        println!("overlap: {overlap_ns:.1} ns");
        assert!((0.0..10_000.0).contains(&overlap_ns), "{watch:?}");
    }

    #[test]
    fn overhead_goes_and_nothing_is_free() {
        let watch = Stopwatch {
            overlap: 50.0,
            per_ns: 2.5,
        };
        let lap = |full| Lap {
            full,
            empty: 200,
            sections: 2,
        };
        assert_eq!(watch.per_message(lap(600), Tail::Done, 4), 40.0);
        assert_eq!(watch.per_message(lap(600), Tail::Pending, 4), 50.0);
        assert_eq!(watch.per_message(lap(150), Tail::Done, 4), 0.1);
    }
}
