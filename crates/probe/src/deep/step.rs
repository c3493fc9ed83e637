//! Finds the jump of a curve. Pure.
//!
//! A store that hits its cache is done at once as long as the write buffer has room, however long the first
//! store in the buffer waits for its line. So the time of k stores behind one that waits is small until the
//! buffer is full, and that wait from there on: a jump between two lines. The jump is put where Tukey's
//! resistant lines on both sides leave the least absolute distance; they rest on medians of thirds, so
//! that single points that are far off do not matter.

use crate::estimate::{self, sorted};

/// Least number of points that a line needs on either side.
const SIDE: usize = 6;

/// A jump counts if it is at least this many times the median distance from the lines.
const CLEAR: f64 = 6.0;

/// A jump of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CurveStep {
    /// The number of points before it.
    pub(super) before: usize,
    /// The difference of the two lines there.
    pub(super) height: f64,
}

/// A line of a resistant kind.
#[derive(Clone, Copy, Debug)]
struct RobustLine {
    base: f64,
    slope: f64,
}

impl RobustLine {
    /// Through the medians of the outer thirds of `times`, whose first is at `from`.
    fn through(times: &[f64], from: usize) -> Self {
        let third = times.len() / 3;
        let (low, high) = (&times[..third], &times[times.len() - third..]);
        let middle = |from: usize| from as f64 + (third - 1) as f64 / 2.0;
        let (x0, x1) = (middle(from), middle(from + times.len() - third));
        let slope = (median(high) - median(low)) / (x1 - x0);
        let rests: Vec<f64> = times
            .iter()
            .enumerate()
            .map(|(k, time)| time - slope * (from + k) as f64)
            .collect();
        Self {
            base: median(&rests),
            slope,
        }
    }

    fn at(self, x: f64) -> f64 {
        self.base + self.slope * x
    }

    fn distances(self, times: &[f64], from: usize) -> impl Iterator<Item = f64> {
        let points = times.iter().enumerate();
        points.map(move |(k, time)| (time - self.at((from + k) as f64)).abs())
    }
}

fn median(times: &[f64]) -> f64 {
    estimate::median(&sorted(times)).unwrap_or(0.0)
}

/// The clearest jump up of `times`, if one is clear.
pub(super) fn jump(times: &[f64]) -> Option<CurveStep> {
    let mut best: Option<(f64, f64, CurveStep)> = None;
    for before in SIDE..times.len().saturating_sub(SIDE - 1) {
        let (left, right) = times.split_at(before);
        let lines = (
            RobustLine::through(left, 0),
            RobustLine::through(right, before),
        );
        let distances = lines.0.distances(left, 0);
        let distances: Vec<f64> = distances.chain(lines.1.distances(right, before)).collect();
        let sum = distances.iter().sum();
        let edge = before as f64 - 0.5;
        let height = lines.1.at(edge) - lines.0.at(edge);
        if best.is_none_or(|(least, ..)| sum < least) {
            best = Some((sum, median(&distances), CurveStep { before, height }));
        }
    }
    let (_, distance, step) = best?;
    (step.height > CLEAR * distance && step.height > 0.0).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores that take 0.4 ns each until the buffer is full, and wait 90 ns from there on.
    fn times(entries: usize, all: usize, mut noise: impl FnMut() -> f64) -> Vec<f64> {
        let time = |k: usize| 0.4 * k as f64 + if k >= entries { 90.0 } else { 0.0 };
        (0..all).map(|k| time(k) + noise()).collect()
    }

    #[test]
    fn the_jump_is_found_wherever_it_is() {
        for entries in [10, 42, 56, 72, 104, 120] {
            let step = jump(&times(entries, 140, || 0.0)).unwrap();
            assert_eq!(step.before, entries);
            assert!((step.height - 90.0).abs() < 1.0, "{step:?}");
        }
    }

    #[test]
    fn noise_and_outliers_do_not_move_it() {
        let mut random = fastrand::Rng::with_seed(5);
        for entries in [20, 56, 100] {
            for _ in 0..50 {
                let mut all = times(entries, 140, || 20.0 * (random.f64() - 0.5));
                for _ in 0..5 {
                    let at = random.usize(..all.len());
                    all[at] += 1000.0;
                }
                let found = jump(&all).unwrap().before;
                assert!(found.abs_diff(entries) <= 2, "{found} for {entries}");
            }
        }
    }

    #[test]
    fn slopes_drops_and_noise_are_no_jumps() {
        let mut random = fastrand::Rng::with_seed(6);
        assert_eq!(jump(&times(1000, 140, || 0.0)), None);
        for _ in 0..50 {
            assert_eq!(jump(&times(1000, 140, || 20.0 * random.f64())), None);
        }
        let falling: Vec<f64> = times(60, 140, || 0.0).iter().map(|t| 200.0 - t).collect();
        assert_eq!(jump(&falling), None);
        assert_eq!(jump(&[]), None);
        assert_eq!(jump(&[1.0; 5]), None);
    }
}
