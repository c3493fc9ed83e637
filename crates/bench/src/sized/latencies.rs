//! The latency of a batch from the logs of its ranks, by each of the definitions in use.
//!
//! ```text
//!            operation 1   2   3        rank's mean
//! rank 0               1   9   3        4.3 ┐
//! rank 1               4   2   3        3.0 ┴─► OSU: average 3.7, min 3.0, max 4.3
//! slowest rank         4   9   3 ─► 5.3 per operation: what races compare
//! ```

use serde::Serialize;

/// One operation on one rank, in nanoseconds of a clock that all ranks share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// When the rank began.
    pub(crate) begin: u64,
    /// How long it took.
    pub(crate) took: u64,
}

/// Times that the ranks saw in a batch, in nanoseconds per operation. The OSU Micro-Benchmarks
/// print the mean, least and most of the ranks' means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RankTimes {
    /// Mean over the ranks.
    pub average: f64,
    /// Least of the ranks' means.
    pub min: f64,
    /// Most of the ranks' means.
    pub max: f64,
    /// How long after the first rank the last one began, as a median over operations; absent where
    /// operations run back to back.
    pub start_spread: Option<f64>,
}

impl RankTimes {
    /// Computes it from the mean time of an operation on each rank; `None` without ranks.
    pub(crate) fn of_means(means: &[f64]) -> Option<RankTimes> {
        Some(RankTimes {
            average: means.iter().sum::<f64>() / means.len() as f64,
            min: means.iter().copied().reduce(f64::min)?,
            max: means.iter().copied().reduce(f64::max)?,
            start_spread: None,
        })
    }

    /// Computes it from the logs of `operations` operations, with one stamp for each or one for
    /// all.
    pub(crate) fn of(logs: &[&[Stamp]], operations: u64, back_to_back: bool) -> Option<RankTimes> {
        let mean = |log: &&[Stamp]| {
            let sum: u64 = log.iter().map(|stamp| stamp.took).sum();
            sum as f64 / operations.max(1) as f64
        };
        let means: Vec<f64> = logs.iter().map(mean).collect();
        let times = RankTimes::of_means(&means)?;
        let spread = || median(spreads(logs));
        Some(RankTimes {
            start_spread: (!back_to_back).then(spread).flatten(),
            ..times
        })
    }
}

/// The sum over all operations of the longest time that a rank took. A rank counts for the
/// operations that it logged.
pub(crate) fn sum_of_maxima(logs: &[&[Stamp]]) -> u64 {
    let longest = logs.iter().map(|log| log.len()).max().unwrap_or(0);
    let most = |at: usize| logs.iter().filter_map(|log| Some(log.get(at)?.took)).max();
    (0..longest).filter_map(most).sum()
}

/// For each operation that all ranks logged, how long after the first rank the last one began.
fn spreads(logs: &[&[Stamp]]) -> Vec<u64> {
    let shortest = logs.iter().map(|log| log.len()).min().unwrap_or(0);
    let begins = |at: usize| logs.iter().map(move |log| log[at].begin);
    let spread = |at| Some(begins(at).max()? - begins(at).min()?);
    (0..shortest).filter_map(spread).collect()
}

fn median(mut times: Vec<u64>) -> Option<f64> {
    times.sort_unstable();
    let (low, high) = (times.len().checked_sub(1)? / 2, times.len() / 2);
    Some((times[low] + times[high]) as f64 / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(stamps: &[(u64, u64)]) -> Vec<Stamp> {
        let stamp = |&(begin, took)| Stamp { begin, took };
        stamps.iter().map(stamp).collect()
    }

    #[test]
    fn the_slowest_rank_of_each_operation_counts() {
        let (first, second) = (
            log(&[(0, 1), (10, 9), (20, 3)]),
            log(&[(2, 4), (10, 2), (27, 3)]),
        );
        let logs = [&first[..], &second[..]];
        assert_eq!(sum_of_maxima(&logs), 4 + 9 + 3);
        assert_eq!(sum_of_maxima(&[&first, &[]]), 13);
        assert_eq!(sum_of_maxima(&[]), 0);
    }

    #[test]
    fn means_of_ranks_are_those_of_osu_and_starts_are_compared() {
        let (first, second) = (
            log(&[(0, 1), (10, 9), (20, 3)]),
            log(&[(2, 4), (10, 2), (27, 3)]),
        );
        let times = RankTimes::of(&[&first, &second], 3, false).unwrap();
        assert_eq!((times.min, times.max), (3.0, 13.0 / 3.0));
        assert!((times.average - (3.0 + 13.0 / 3.0) / 2.0).abs() < 1e-12);
        assert_eq!(times.start_spread, Some(2.0));
        // No mean of a rank exceeds the mean of the slowest ranks.
        assert!(times.max <= sum_of_maxima(&[&first, &second]) as f64 / 3.0);
    }

    #[test]
    fn one_stamp_may_stand_for_many_operations() {
        let (first, second) = (log(&[(5, 100)]), log(&[(6, 300)]));
        let times = RankTimes::of(&[&first, &second], 10, true).unwrap();
        assert_eq!((times.average, times.min, times.max), (20.0, 10.0, 30.0));
        assert_eq!(times.start_spread, None);
        assert_eq!(RankTimes::of(&[], 10, true), None);
        assert_eq!(median(vec![9, 1, 4, 2]), Some(3.0));
        assert_eq!(median(Vec::new()), None);
    }
}
