//! The depth of the write buffer: the number of stores that a core holds back before it stalls.
//!
//! One store goes to a line that is in no cache, so it waits, and with it all later stores, as they leave
//! the buffer in order. How long k stores to lines at hand take behind it jumps where the buffer is full.
//!
//! No other store may happen meanwhile, not even that of a call's return address. A separate program in C finds the
//! jump between 112 and 116 stores where this one finds 115 (2-core KVM guest, AMD EPYC, Zen 5, 2026-11-22).

use std::time::{Duration, Instant};

use corecast_model::deep::Figure;
use corecast_wire::{drain_stores, microbench};

use super::crew::{Mate, Stop};
use super::order::{Picker, SEED};
use super::settle::{figure, mean};
use super::step;

/// Most stores that are tried: more than any present buffer holds.
const STORES: usize = 192;

/// Different lines that the stores go to, in turns, so that none can be merged with its neighbour.
const LINES: usize = 64;

/// Samples of each number of stores in a round.
const SAMPLES: usize = 15;

/// Rounds, each of which finds a depth.
const ROUNDS: usize = 7;

/// Returns the depth of the write buffer, where a jump was seen.
pub(super) fn measure(mate: &mut Mate<'_>, limit: Duration) -> Result<Option<Figure>, Stop> {
    let deadline = Instant::now() + limit;
    let mut picker = Picker::new(SEED);
    let mut depths = Vec::new();
    for _ in 0..ROUNDS {
        let mut all = vec![Vec::new(); STORES];
        for _ in 0..SAMPLES {
            let lines = picker.lines(LINES + 1);
            for (stores, times) in all.iter_mut().enumerate() {
                times.push(burst(mate, &lines, stores));
            }
        }
        let times: Vec<f64> = all.iter().map(|times| mean(times)).collect();
        // The waiting store is in the buffer as well.
        depths.extend(step::jump(&times).map(|step| step.before as f64));
        if Instant::now() >= deadline {
            break;
        }
    }
    Ok(figure(&depths))
}

/// Returns the nanoseconds of this many stores behind one that waits.
fn burst(mate: &mut Mate<'_>, lines: &[usize], stores: usize) -> f64 {
    let lines_of = mate.lines_of(mate.rank);
    let (&cold, hot) = lines.split_first().expect("a line that waits");
    hot.iter().for_each(|&line| lines_of.store(line, 0));
    lines_of.flush(cold);
    microbench::finish_flushes();
    drain_stores();
    mate.dither();
    let lines_of = mate.lines_of(mate.rank);
    let start = mate.timer.now();
    lines_of.store(cold, 1);
    for at in 0..stores {
        lines_of.store(hot[at % LINES], 1);
    }
    let end = mate.timer.now();
    mate.timer.ns(start, end)
}
