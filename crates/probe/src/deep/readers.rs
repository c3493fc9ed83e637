//! The order in which several threads that poll a line see a change of it, and their delays.

use std::hint::black_box;
use std::time::{Duration, Instant};

use corecast_model::deep::Figure;
use corecast_wire::{arch, drain_stores};

use super::crew::{Mate, Stop};
use super::order::{Picker, SEED};
use super::settle::of_shots;

/// Rounds at most.
const ROUNDS: u64 = 1000;

/// Longest wait for a change, in nanoseconds: a reader that lost its processor gives up the round.
const PATIENCE_NS: f64 = 1e6;

/// The result of one reader.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// The share of the rounds in which it was first.
    pub(super) first: f64,
    /// Its mean place, where the first has 1.
    pub(super) place: f64,
    /// Nanoseconds from before the store until it had seen the value.
    pub(super) ns: Figure,
}

/// Lets rank 0 write and the others poll. Rank 0 gets the results, in the order of ranks from 1 on.
///
/// All threads must read one counter, see [`super::timer::Timer::is_common`].
pub(super) fn measure(mate: &mut Mate<'_>, limit: Duration) -> Result<Vec<Seen>, Stop> {
    let readers = mate.crew() - 1;
    let mut picker = Picker::new(SEED);
    let mut delays = vec![Vec::new(); readers];
    let (mut first, mut places, mut rounds) = (vec![0_u64; readers], vec![0_u64; readers], 0_u64);
    let deadline = Instant::now() + limit;
    for round in 1.. {
        let line = picker.lines(1)[0];
        if mate.rank == 0 {
            mate.lines_of(0).store(line, 0);
            drain_stores();
        }
        mate.meet()?;
        let seen = match mate.rank {
            0 => write(mate, line, round),
            _ => poll(mate, line, round),
        };
        mate.leave(seen);
        mate.meet()?;
        if mate.rank == 0 {
            let mut order: Vec<(f64, usize)> =
                (0..readers).map(|r| (mate.left(r + 1) - seen, r)).collect();
            // A round that a reader gave up says nothing about the order.
            if order.iter().all(|(delay, _)| delay.is_finite()) {
                order.sort_by(|a, b| a.0.total_cmp(&b.0));
                rounds += 1;
                first[order[0].1] += 1;
                for (place, &(delay, reader)) in order.iter().enumerate() {
                    places[reader] += place as u64 + 1;
                    delays[reader].push(delay);
                }
            }
        }
        if !mate.agree(round < ROUNDS && Instant::now() < deadline)? {
            break;
        }
    }
    let part = |count: u64| count as f64 / rounds.max(1) as f64;
    let seen = (0..readers).filter_map(|reader| {
        Some(Seen {
            first: part(first[reader]),
            place: part(places[reader]),
            ns: of_shots(&delays[reader])?,
        })
    });
    Ok(seen.collect())
}

/// Waits until all poll, and writes. Returns the counter's nanoseconds just before.
fn write(mate: &mut Mate<'_>, line: usize, round: u64) -> f64 {
    let begin = mate.timer.now();
    let wait = mate.timer.ticks(1000.0);
    while mate.timer.now().wrapping_sub(begin) < wait {}
    mate.dither();
    let start = mate.timer.now();
    mate.lines_of(0).store(line, round);
    mate.timer.at_ns(start)
}

/// Polls until the value is there. Returns the counter's nanoseconds then, or NaN.
fn poll(mate: &Mate<'_>, line: usize, round: u64) -> f64 {
    let lines_of = mate.lines_of(0);
    let begin = mate.timer.now();
    let patience = mate.timer.ticks(PATIENCE_NS);
    for polls in 1_u32.. {
        if black_box(lines_of.load(line)) == round {
            return mate.timer.at_ns(mate.timer.now());
        }
        if polls.is_multiple_of(1024) {
            arch::relax();
            if mate.timer.now().wrapping_sub(begin) > patience {
                break;
            }
        }
    }
    f64::NAN
}
