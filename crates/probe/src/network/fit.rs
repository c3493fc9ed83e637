//! From the times of rounds to the terms of LogGP.

use super::measuring::{MESSAGES, NetworkTimes};
use crate::estimate::{Estimate, median, sorted};
use corecast_model::cluster::{Interval, MessageTimes, Network, NetworkMeasurement};

/// The terms, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Terms {
    pub(super) latency: f64,
    pub(super) send: f64,
    pub(super) receive: f64,
    pub(super) gap: f64,
    pub(super) byte: f64,
}

/// How often times are drawn again for the intervals of the terms.
const DRAWS: usize = 200;

/// A message in a row says something about its card if it takes so many times the work of the processors.
const BY_CARD: f64 = 1.2;

/// A step is one if the line with it fits so many times better.
const STEP_BETTER: f64 = 4.0;
/// And if the line without it is off by so much, relative to the times.
const STEP_OFF: f64 = 0.02;
/// And if it is at least this part of the time of a message of one byte.
const STEP_HEIGHT: f64 = 0.2;

impl NetworkTimes {
    /// The costs of messages, and what they were measured from. `library` has carried the messages of `pairs` pairs of hosts.
    ///
    /// # Panics
    ///
    /// If a time was not measured once.
    pub fn costs(
        &self,
        library: &str,
        created: &str,
        pairs: usize,
    ) -> (Network, NetworkMeasurement) {
        let terms = self.terms(|times| estimate(times).median);
        let mut random = fastrand::Rng::with_seed(1);
        let draws: Vec<Terms> = (0..DRAWS)
            .map(|_| {
                self.terms(|times| {
                    let drawn = |_| times[random.usize(..times.len())];
                    let drawn: Vec<f64> = (0..times.len()).map(drawn).collect();
                    median(&sorted(&drawn)).expect("each time was measured")
                })
            })
            .collect();
        let interval = |of: fn(&Terms) -> f64| {
            let all = sorted(&draws.iter().map(of).collect::<Vec<f64>>());
            let median = of(&terms);
            Interval {
                median,
                low: all[DRAWS / 40].min(median),
                high: all[DRAWS - 1 - DRAWS / 40].max(median),
            }
        };
        let sizes: Vec<MessageTimes> = self
            .one
            .iter()
            .zip(&self.row)
            .map(|((bytes, one), (_, row))| {
                let (one, row) = (estimate(one), estimate(row));
                let each = (MESSAGES - 1) as f64;
                MessageTimes {
                    bytes: *bytes,
                    one_way: scaled(one.median, one.half_width, 2.0),
                    in_a_row: scaled(
                        row.median - one.median,
                        row.half_width + one.half_width,
                        each,
                    ),
                }
            })
            .collect();
        let ways: Vec<(f64, f64)> = sizes
            .iter()
            .filter(|size| size.bytes > 0)
            .map(|size| ((size.bytes - 1) as f64, size.one_way.median))
            .collect();
        let network = Network {
            latency_ns: terms.latency,
            overhead_ns: f64::midpoint(terms.send, terms.receive),
            gap_ns: terms.gap,
            byte_ns: terms.byte,
        };
        let measurement = NetworkMeasurement {
            library: library.to_owned(),
            created: created.to_owned(),
            pairs,
            latency_ns: interval(|terms| terms.latency),
            send_overhead_ns: interval(|terms| terms.send),
            receive_overhead_ns: interval(|terms| terms.receive),
            gap_ns: interval(|terms| terms.gap),
            byte_ns: interval(|terms| terms.byte),
            empty_ns: sizes[0].one_way,
            rendezvous_bytes: step(&ways).map(|before| before as usize + 1),
            sizes,
        };
        (network, measurement)
    }

    /// The terms, where `middle` is the median of times.
    pub(super) fn terms(&self, mut middle: impl FnMut(&[f64]) -> f64) -> Terms {
        let one: Vec<f64> = self.one.iter().map(|(_, times)| middle(times)).collect();
        let row: Vec<f64> = self.row.iter().map(|(_, times)| middle(times)).collect();
        let each = (MESSAGES - 1) as f64;
        let byte = self.one.iter().position(|(bytes, _)| *bytes == 1);
        let of_byte = one[byte.expect("messages of one byte are measured")];
        let send = ((middle(&self.spaced) - of_byte) / each - self.delay_ns).max(0.0);
        let receive = middle(&self.receive);
        // Processors that are measured by themselves may take longer than in a round, where the one works while the other
        // does. Then nothing is left for L, and they have all of the way.
        let part = (of_byte / 2.0 / (send + receive)).min(1.0);
        let (send, receive) = (part * send, part * receive);
        let in_a_row: Vec<(f64, f64)> = (0..one.len())
            .filter(|&at| self.one[at].0 > 0)
            .map(|at| ((self.one[at].0 - 1) as f64, (row[at] - one[at]) / each))
            .filter(|point| point.1 > 0.0)
            .collect();
        // Where the processors are what takes longest, the card does not show.
        let busy = BY_CARD * send.max(receive);
        let by_card: Vec<(f64, f64)> = in_a_row
            .iter()
            .copied()
            .filter(|one| one.1 > busy)
            .collect();
        let (gap, byte) = match by_card.len() {
            0..3 => line(&in_a_row),
            _ => line(&by_card),
        };
        Terms {
            latency: (of_byte / 2.0 - send - receive).max(0.0),
            send,
            receive,
            gap,
            byte,
        }
    }
}

fn estimate(times: &[f64]) -> Estimate {
    Estimate::of(times).expect("each time was measured")
}

fn scaled(time: f64, half_width: f64, by: f64) -> Interval {
    let time = time.max(0.0);
    Interval {
        median: time / by,
        low: (time - half_width).max(0.0) / by,
        high: (time + half_width) / by,
    }
}

/// The line a + b x, neither of them below 0, whose relative distances to the points have the least sum of squares.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let weighted =
        |term: &dyn Fn(f64) -> f64| -> f64 { points.iter().map(|&(x, y)| term(x) / (y * y)).sum() };
    let (s, sx, sxx) = (weighted(&|_| 1.0), weighted(&|x| x), weighted(&|x| x * x));
    let (sy, sxy) = points.iter().fold((0.0, 0.0), |sums: (f64, f64), &(x, y)| {
        (sums.0 + 1.0 / y, sums.1 + x / y)
    });
    let below = s * sxx - sx * sx;
    if s == 0.0 {
        return (0.0, 0.0);
    }
    // One size alone has no slope.
    if below <= 1e-12 * s * sxx {
        return (sy / s, 0.0);
    }
    let (a, b) = ((sy * sxx - sx * sxy) / below, (s * sxy - sx * sy) / below);
    match (a < 0.0, b < 0.0) {
        (true, _) => (0.0, sxy / sxx),
        (false, true) => (sy / s, 0.0),
        (false, false) => (a, b),
    }
}

/// The sum of squares of relative distances to the best line with a step behind the first `before` points, and the height of
/// the step and of the line's beginning.
fn with_step(points: &[(f64, f64)], before: usize) -> (f64, f64, f64) {
    // Normal equations of a + b x + c [x is behind], solved by elimination.
    let mut rows = [[0.0; 4]; 3];
    for (at, &(x, y)) in points.iter().enumerate() {
        let terms = [1.0 / y, x / y, f64::from(u8::from(at >= before)) / y];
        for (row, left) in rows.iter_mut().zip(terms) {
            for (cell, right) in row.iter_mut().zip(terms.into_iter().chain([1.0])) {
                *cell += left * right;
            }
        }
    }
    for at in 0..3 {
        let pivot = rows[at];
        for (other, row) in rows.iter_mut().enumerate() {
            if other != at && pivot[at] != 0.0 {
                let by = row[at] / pivot[at];
                row.iter_mut()
                    .zip(pivot)
                    .for_each(|(cell, of)| *cell -= by * of);
            }
        }
    }
    let [a, b, c] = std::array::from_fn(|at| match rows[at][at] == 0.0 {
        true => 0.0,
        false => rows[at][3] / rows[at][at],
    });
    let off = points.iter().enumerate().map(|(at, &(x, y))| {
        let step = if at >= before { c } else { 0.0 };
        ((a + b * x + step) / y - 1.0).powi(2)
    });
    (off.sum(), c, a)
}

/// The last place before a step in the times, if there is one that cannot be chance.
fn step(points: &[(f64, f64)]) -> Option<f64> {
    let (a, b) = line(points);
    let off: f64 = points
        .iter()
        .map(|&(x, y)| ((a + b * x) / y - 1.0).powi(2))
        .sum();
    let least = STEP_OFF * STEP_OFF * points.len() as f64;
    let found = (3..points.len().saturating_sub(1))
        .map(|before| (before, with_step(points, before)))
        .min_by(|one, other| one.1.0.total_cmp(&other.1.0));
    let (before, (rest, height, begin)) = found?;
    let is_one = off > least && off > STEP_BETTER * rest && height > STEP_HEIGHT * begin;
    is_one.then(|| points[before - 1].0)
}
