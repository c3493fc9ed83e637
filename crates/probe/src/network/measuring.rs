//! Which rounds are timed, and how often.

use crate::estimate::{Estimate, median, sorted};
use std::time::{Duration, Instant};

/// Messages of a round that has many.
pub(super) const MESSAGES: usize = 16;

/// Bytes of messages: without data, of one byte, of a few sizes below a packet, and each power of two up to 1 MiB.
const SIZES: [usize; 15] = [
    0,
    1,
    8,
    64,
    512,
    1 << 11,
    1 << 12,
    1 << 13,
    1 << 14,
    1 << 15,
    1 << 16,
    1 << 17,
    1 << 18,
    1 << 19,
    1 << 20,
];

/// What one round is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Messages, the last of which is answered.
    pub messages: usize,
    /// Time that the sender lets pass after each message but the last, in nanoseconds.
    pub delay_ns: f64,
    /// Bytes of each message, and of the answer.
    pub bytes: usize,
}

/// A way to another host whose messages can be timed.
pub trait Link {
    /// The times of so many rounds, in nanoseconds.
    fn rounds(&mut self, round: Round, times: usize) -> Vec<f64>;

    /// So many times the time to receive a message of `bytes` that is there already, in nanoseconds: it comes within
    /// `wait_ns`.
    fn receives(&mut self, bytes: usize, wait_ns: f64, times: usize) -> Vec<f64>;
}

/// The times of rounds, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkTimes {
    /// By size, a message and its answer.
    pub(super) one: Vec<(usize, Vec<f64>)>,
    /// By size, many messages in a row and their answer.
    pub(super) row: Vec<(usize, Vec<f64>)>,
    /// Many messages of one byte with a delay between them.
    pub(super) spaced: Vec<f64>,
    /// That delay.
    pub(super) delay_ns: f64,
    /// Receives of one byte that is there.
    pub(super) receive: Vec<f64>,
}

/// Rounds of a kind at a time, at most: kinds take turns, so that a machine that is busy for a while disturbs all of them.
const BATCH: usize = 10;
/// Time that a batch shall not exceed.
const BATCH_NS: f64 = 5e6;
/// Batches of each kind: at least, and at most.
const PASSES: std::ops::Range<usize> = 4..30;
/// Half of the interval of each time at which it is known well enough, relative to it.
const PRECISION: f64 = 0.01;

/// Measures over links to one or several hosts, whose times are taken together, one link at a time. It takes about as long as
/// `limit`, or less where times are known to 1 % before. `go_on` is told the part that is done, from 0 to 1, and says whether
/// to go on; at least two rounds of each kind are timed all the same, which takes longer than the limit where the
/// processors are busy.
///
/// # Panics
///
/// If there is no link.
pub fn measure<L: Link>(
    links: &mut [L],
    limit: Duration,
    mut go_on: impl FnMut(f64) -> bool,
) -> NetworkTimes {
    assert!(!links.is_empty(), "a link at least");
    let empty = || SIZES.map(|bytes| (bytes, Vec::new())).to_vec();
    let mut times = NetworkTimes {
        one: empty(),
        row: empty(),
        spaced: Vec::new(),
        delay_ns: 0.0,
        receive: Vec::new(),
    };
    let begin = Instant::now();
    for pass in 0..PASSES.end {
        let is_enough = pass >= PASSES.start && times.all().all(is_settled);
        if is_enough {
            break;
        }
        for link in &mut *links {
            for kind in 0..=SIZES.len() {
                let elapsed = begin.elapsed();
                let done = elapsed.as_secs_f64() / limit.as_secs_f64();
                let done = done.max(pass as f64 / PASSES.end as f64).min(1.0);
                let is_over = !go_on(done) || elapsed >= limit;
                if is_over && pass > 0 {
                    return times;
                }
                match kind < SIZES.len() {
                    true => of_size(&mut times, link, kind),
                    false => of_overheads(&mut times, link),
                }
            }
        }
    }
    times
}

/// Messages of one size, one by one and in a row.
fn of_size(times: &mut NetworkTimes, link: &mut impl Link, at: usize) {
    let bytes = SIZES[at];
    let round = |messages| Round {
        messages,
        delay_ns: 0.0,
        bytes,
    };
    batch(&mut times.one[at].1, |count| link.rounds(round(1), count));
    batch(&mut times.row[at].1, |count| {
        link.rounds(round(MESSAGES), count)
    });
}

/// Messages of one byte with a delay between them, and receives.
fn of_overheads(times: &mut NetworkTimes, link: &mut impl Link) {
    let of_byte = median(&sorted(&times.one[1].1)).expect("it was timed before");
    if times.delay_ns == 0.0 {
        times.delay_ns = of_byte;
    }
    let round = Round {
        messages: MESSAGES,
        delay_ns: times.delay_ns,
        bytes: 1,
    };
    batch(&mut times.spaced, |count| link.rounds(round, count));
    // Answers have their time, and as much again.
    let wait = 2.0 * of_byte;
    batch(&mut times.receive, |count| link.receives(1, wait, count));
}

/// Adds a batch of times. How long the first one takes says how many more there are.
fn batch(all: &mut Vec<f64>, mut timed: impl FnMut(usize) -> Vec<f64>) {
    if all.is_empty() {
        all.extend(timed(1));
    }
    let typical = median(&sorted(all)).unwrap_or(BATCH_NS);
    let count = (BATCH_NS / typical.max(1.0)) as usize;
    all.extend(timed(count.clamp(1, BATCH)));
}

fn is_settled(times: &[f64]) -> bool {
    Estimate::of(times).is_some_and(|estimate| estimate.settled(PRECISION))
}

impl NetworkTimes {
    fn all(&self) -> impl Iterator<Item = &[f64]> {
        let of_sizes = self
            .one
            .iter()
            .chain(&self.row)
            .map(|(_, times)| &times[..]);
        of_sizes.chain([&self.spaced[..], &self.receive[..]])
    }
}
