//! Makes ranges of lengths from the winners at raced sizes.

use crate::candidates::Asked;
use crate::outcome::{Point, Range};
use corecast_bench::sized::ELEMENT_BYTES;

/// The most ranges that a table holds.
pub const RANGES_MAX: usize = 8;

/// Assumed ratio of the time of an algorithm that did not race at a size.
const UNKNOWN: f64 = 10.0;

/// Ranges of lengths for the algorithms chosen at `points`, which are in order of size. The limit between two sizes
/// is their geometric mean. If there are more than [`RANGES_MAX`], the ranges whose removal costs least are
/// removed: their points change to the algorithm of a neighbour.
pub fn ranges(points: &mut [Point]) -> Vec<Range> {
    while runs(points).len() > RANGES_MAX {
        merge_cheapest(points);
    }
    let runs = runs(points);
    let range = |at: usize| {
        let (first, last) = runs[at];
        let next = runs.get(at + 1).map(|next| points[next.0].bytes);
        Range {
            up_to_bytes: next.map(|next| between(points[last].bytes, next)),
            algorithm: points[first].algorithm(),
            size_raced: points[last].bytes,
        }
    };
    (0..runs.len()).map(range).collect()
}

/// The geometric mean of two sizes in bytes, in whole elements of 8 bytes; at least the smaller size and less than
/// the larger.
pub fn between(small: usize, large: usize) -> usize {
    let mean = (small.max(1) as f64 * large as f64).sqrt() as usize / 8 * 8;
    mean.clamp(small, large.saturating_sub(1).max(small))
}

/// A power of two between two sizes, or their geometric mean where there is none.
pub(crate) fn middle(small: usize, large: usize) -> usize {
    let mean = between(small, large);
    let power = mean.next_power_of_two() / if mean.is_power_of_two() { 1 } else { 2 };
    match small < power && power < large && power >= ELEMENT_BYTES {
        true => power,
        false => mean,
    }
}

/// Runs of neighbouring points with the same algorithm, each as the indices of its first and last point.
fn runs(points: &[Point]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, point) in points.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if points[run.0].algorithm() == point.algorithm() => run.1 = at,
            _ => runs.push((at, at)),
        }
    }
    runs
}

/// Changes one run to the algorithm of a neighbour: the run that loses least time by it.
fn merge_cheapest(points: &mut [Point]) {
    let runs = runs(points);
    let mut cheapest: Option<(f64, usize, Asked)> = None;
    for at in 0..runs.len() {
        let before = at.checked_sub(1).map(|before| runs[before]);
        for (other, _) in before.into_iter().chain(runs.get(at + 1).copied()) {
            let algorithm = points[other].algorithm();
            let (first, last) = runs[at];
            let times = points[first..=last].iter();
            let times = times.map(|point| point.times(algorithm).unwrap_or(UNKNOWN));
            let loss = times.fold(0.0, f64::max);
            if cheapest.is_none_or(|(least, ..)| loss < least) {
                cheapest = Some((loss, at, algorithm));
            }
        }
    }
    let (_, at, algorithm) = cheapest.expect("several runs");
    let (first, last) = runs[at];
    for point in &mut points[first..=last] {
        match point.algorithms.iter().position(|one| *one == algorithm) {
            Some(chosen) => point.chosen = chosen,
            None => {
                // The algorithm did not race at this size, so its times are unknown.
                point.algorithms.push(algorithm);
                let mut raced = point.candidates[point.chosen].clone();
                raced.name = crate::candidates::name(algorithm).to_owned();
                (raced.measured_ns, raced.interval_ns, raced.ratio) = (None, None, None);
                (raced.predicted_ns, raced.rounds, raced.left) = (None, 0, None);
                point.candidates.push(raced);
                point.chosen = point.candidates.len() - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Raced;

    fn point(bytes: usize, times: &[(Asked, f64)], chosen: usize) -> Point {
        let raced = |&(algorithm, ns): &(Asked, f64)| Raced {
            name: crate::candidates::name(algorithm).to_owned(),
            predicted_ns: None,
            measured_ns: Some(ns),
            interval_ns: None,
            rounds: 1,
            ratio: None,
            left: None,
        };
        Point {
            bytes,
            candidates: times.iter().map(raced).collect(),
            algorithms: times.iter().map(|(algorithm, _)| *algorithm).collect(),
            left_out: Vec::new(),
            chosen,
            decided: true,
            mended: None,
        }
    }

    #[test]
    fn neighbours_alike_share_a_range_and_limits_lie_between() {
        let times = [(None, 1.0), (Some("ring"), 1.0)];
        let mut points = [
            point(8, &times, 0),
            point(64, &times, 0),
            point(1024, &times, 1),
            point(4096, &times, 1),
        ];
        let found = ranges(&mut points);
        let limits: Vec<_> = found.iter().map(|r| (r.up_to_bytes, r.algorithm)).collect();
        assert_eq!(limits, [(Some(256), None), (None, Some("ring"))]);
    }

    #[test]
    fn limits_ascend_whatever_the_sizes() {
        for small in [0, 8, 16, 24, 1000] {
            for large in [small + 8, small + 16, small * 64 + 8] {
                let limit = between(small, large);
                assert!(small <= limit && limit < large, "{small} {limit} {large}");
            }
        }
    }

    #[test]
    fn too_many_ranges_lose_the_one_worth_least() {
        // Winners alternate, and at 512 bytes the choice matters least.
        let mut points: Vec<Point> = (0..10)
            .map(|at| {
                let loss = if at == 6 { 1.01 } else { 1.5 };
                let (built_in, ring) = if at % 2 == 0 {
                    (loss, 1.0)
                } else {
                    (1.0, loss)
                };
                let chosen = usize::from(at % 2 == 0);
                point(8 << at, &[(None, built_in), (Some("ring"), ring)], chosen)
            })
            .collect();
        let found = ranges(&mut points);
        assert_eq!(found.len(), RANGES_MAX);
        assert_eq!(points[6].algorithm(), None);
        let limits: Vec<_> = found.iter().map_while(|r| r.up_to_bytes).collect();
        assert!(limits.is_sorted_by(|a, b| a < b));
        assert_eq!(limits.len(), RANGES_MAX - 1);
    }
}
