//! Medians, their confidence intervals and paired ratios.
//!
//! Latencies have long right tails and no known distribution, so nothing here
//! assumes one: the interval of a median comes from order statistics, and
//! ratios are taken round by round, where both samples saw the same machine.
//!
//! Source: Hoefler and Belli, *Scientific Benchmarking of Parallel Computing
//! Systems*, SC'15, rules 5 to 8; David and Nagaraja, *Order Statistics*, §7.1.

use serde::{Deserialize, Serialize};

/// Coverage that [`median_interval`] reaches whenever the sample count allows.
pub const COVERAGE: f64 = 0.95;

/// A range that holds the true median with probability [`coverage`](Self::coverage).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability of the order statistics chosen: at least [`COVERAGE`] from
    /// six samples on, less below six, where the interval is the whole range.
    pub coverage: f64,
}

impl Interval {
    /// Half the distance between the ends.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// Statistics of one entrant's samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of samples.
    pub samples: usize,
    /// Their median.
    pub median: f64,
    /// Confidence interval of the median.
    pub interval: Interval,
    /// Smallest sample.
    pub min: f64,
    /// Tenth percentile.
    pub p10: f64,
    /// Ninetieth percentile.
    pub p90: f64,
    /// Largest sample.
    pub max: f64,
    /// Samples further above the upper quartile than one and a half times the distance of the
    /// quartiles (Tukey, *Exploratory Data Analysis*, 1977). They count like all others.
    #[serde(default)]
    pub outliers: usize,
}

impl Summary {
    /// Summarises `samples`; `None` if there are none.
    pub fn of(samples: &[f64]) -> Option<Summary> {
        let sorted = sorted(samples)?;
        Some(Summary {
            samples: sorted.len(),
            median: quantile_sorted(&sorted, 0.5),
            interval: interval_sorted(&sorted),
            min: sorted[0],
            p10: quantile_sorted(&sorted, 0.1),
            p90: quantile_sorted(&sorted, 0.9),
            max: sorted[sorted.len() - 1],
            outliers: outliers(&sorted),
        })
    }

    /// Whether the interval of the median has come down to `precision` (0.02
    /// for ±2 %) of the median, at full coverage.
    pub fn settled(&self, precision: f64) -> bool {
        self.interval.coverage >= COVERAGE
            && self.interval.half_width() <= precision * self.median.abs()
    }
}

/// How many times as long one entrant takes as another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Median of the ratios of each round. Drift that slows both entrants of a
    /// round alike cancels here, and does not in [`of_medians`](Self::of_medians).
    pub median: f64,
    /// Confidence interval of [`median`](Self::median).
    pub interval: Interval,
    /// Ratio of the two medians, over the same rounds.
    pub of_medians: f64,
    /// Rounds in which both entrants have a sample.
    pub pairs: usize,
}

/// Median of `samples`; `None` if there are none.
pub fn median(samples: &[f64]) -> Option<f64> {
    quantile(samples, 0.5)
}

/// Quantile `q` in 0..=1 of `samples`, interpolated between neighbours (type 7
/// of Hyndman and Fan); `None` if there are no samples.
///
/// # Panics
///
/// If `q` lies outside 0..=1 or a sample is not a number.
pub fn quantile(samples: &[f64], q: f64) -> Option<f64> {
    assert!((0.0..=1.0).contains(&q), "quantile {q} lies outside 0..=1");
    sorted(samples).map(|sorted| quantile_sorted(&sorted, q))
}

/// Confidence interval of the median of `samples` by order statistics; `None`
/// if there are no samples.
///
/// Between the l-th smallest and the l-th largest sample the true median lies
/// with probability `1 - 2 P(Bin(n, 1/2) < l)`, whatever the distribution; `l`
/// is the largest for which that is at least [`COVERAGE`].
///
/// # Panics
///
/// If a sample is not a number.
pub fn median_interval(samples: &[f64]) -> Option<Interval> {
    sorted(samples).map(|sorted| interval_sorted(&sorted))
}

/// Ratio of `numerator` to `denominator` over rounds that have both; `None` if
/// there is no such round.
///
/// # Panics
///
/// If the slices differ in length: entry i of both belongs to round i.
pub fn paired_ratio(numerator: &[Option<f64>], denominator: &[Option<f64>]) -> Option<Ratio> {
    assert_eq!(numerator.len(), denominator.len(), "one entry per round");
    let (above, below): (Vec<f64>, Vec<f64>) = numerator
        .iter()
        .zip(denominator)
        .filter_map(|(n, d)| n.zip(*d))
        .unzip();
    let ratios: Vec<f64> = above.iter().zip(&below).map(|(n, d)| n / d).collect();
    Some(Ratio {
        median: median(&ratios)?,
        interval: median_interval(&ratios)?,
        of_medians: median(&above)? / median(&below)?,
        pairs: ratios.len(),
    })
}

fn sorted(samples: &[f64]) -> Option<Vec<f64>> {
    assert!(
        samples.iter().all(|s| !s.is_nan()),
        "a sample is not a number"
    );
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    (!sorted.is_empty()).then_some(sorted)
}

fn quantile_sorted(sorted: &[f64], q: f64) -> f64 {
    let place = q * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = place.ceil() as usize;
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// Samples beyond the upper fence.
fn outliers(sorted: &[f64]) -> usize {
    let (low, high) = (quantile_sorted(sorted, 0.25), quantile_sorted(sorted, 0.75));
    let fence = high + 1.5 * (high - low);
    sorted.iter().filter(|&&sample| sample > fence).count()
}

fn interval_sorted(sorted: &[f64]) -> Interval {
    let (skip, coverage) = interval_ranks(sorted.len());
    Interval {
        low: sorted[skip],
        high: sorted[sorted.len() - 1 - skip],
        coverage,
    }
}

/// How many samples to leave out at each end, and the coverage that remains.
fn interval_ranks(n: usize) -> (usize, f64) {
    let tail_max = (1.0 - COVERAGE) / 2.0;
    // In logarithms, since 2^-n underflows from n = 1075 on.
    let mut term = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = term.exp();
    let mut skip = 0;
    loop {
        let next = term + ((n - skip) as f64 / (skip + 1) as f64).ln();
        let tail_next = tail + next.exp();
        if tail_next > tail_max || 2 * (skip + 1) >= n {
            return (skip, 1.0 - 2.0 * tail);
        }
        (term, tail, skip) = (next, tail_next, skip + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(n: usize) -> Vec<f64> {
        // Shuffled on purpose: 7 is coprime to every n used here.
        (0..n).map(|i| ((i * 7) % n + 1) as f64).collect()
    }

    #[test]
    fn medians_and_quantiles_of_ramps() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(median(&ramp(101)), Some(51.0));
        assert_eq!(quantile(&ramp(101), 0.0), Some(1.0));
        assert_eq!(quantile(&ramp(101), 0.1), Some(11.0));
        assert_eq!(quantile(&ramp(101), 0.9), Some(91.0));
        assert_eq!(quantile(&ramp(101), 1.0), Some(101.0));
    }

    #[test]
    fn interval_ranks_agree_with_published_tables() {
        // David and Nagaraja, table of order-statistic intervals at 95 %.
        for (n, l, coverage) in [
            (6, 1, 0.9688),
            (8, 1, 0.9922),
            (9, 2, 0.9609),
            (10, 2, 0.9785),
            (20, 6, 0.9586),
            (100, 40, 0.9648),
        ] {
            let (skip, got) = interval_ranks(n);
            assert_eq!(skip + 1, l, "n = {n}");
            assert!((got - coverage).abs() < 1e-4, "n = {n}: {got}");
        }
    }

    #[test]
    fn few_samples_say_that_they_are_few() {
        let interval = median_interval(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((interval.low, interval.high), (1.0, 3.0));
        assert!((interval.coverage - 0.75).abs() < 1e-12);
        let one = median_interval(&[5.0]).unwrap();
        assert_eq!((one.low, one.high, one.coverage), (5.0, 5.0, 0.0));
        assert!(!Summary::of(&[5.0; 5]).unwrap().settled(0.5));
        assert!(Summary::of(&[5.0; 6]).unwrap().settled(0.0));
    }

    #[test]
    fn large_counts_neither_underflow_nor_stall() {
        let (skip, coverage) = interval_ranks(10_000);
        // Normal approximation: (n - 1.96 sqrt n) / 2.
        assert!((skip as f64 - 4902.0).abs() <= 1.0, "{skip}");
        assert!((0.95..0.952).contains(&coverage), "{coverage}");
    }

    #[test]
    fn the_interval_covers_the_true_median_as_often_as_it_says() {
        // A skewed distribution with median 1: exp(U) stretched on the right.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut uniform = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut hits = 0;
        for _ in 0..2000 {
            let samples: Vec<f64> = (0..25)
                .map(|_| 1.0 / (2.0 * (1.0 - uniform()).max(1e-9)))
                .collect();
            let interval = median_interval(&samples).unwrap();
            hits += u32::from((interval.low..=interval.high).contains(&1.0));
        }
        // n = 25 gives 95.7 %; 2000 trials stray less than 2 % from that.
        assert!((1870..=1955).contains(&hits), "{hits} of 2000");
    }

    #[test]
    fn paired_ratios_cancel_drift() {
        let drift: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i) / 10.0).collect();
        let slow: Vec<_> = drift.iter().map(|d| Some(300.0 * d)).collect();
        let fast: Vec<_> = drift.iter().map(|d| Some(100.0 * d)).collect();
        let ratio = paired_ratio(&slow, &fast).unwrap();
        assert!((ratio.median - 3.0).abs() < 1e-12);
        assert!(ratio.interval.half_width() < 1e-12);
        assert_eq!(ratio.pairs, 40);
    }

    #[test]
    fn rounds_without_both_samples_form_no_pair() {
        let a = [Some(2.0), None, Some(4.0), Some(9.0)];
        let b = [Some(1.0), Some(1.0), None, Some(3.0)];
        let ratio = paired_ratio(&a, &b).unwrap();
        assert_eq!((ratio.pairs, ratio.median), (2, 2.5));
        assert_eq!(paired_ratio(&[None], &[Some(1.0)]), None);
    }
}
