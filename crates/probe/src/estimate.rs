//! An estimator that interruptions do not disturb.
//!
//! Times have a floor and a long tail: interrupts, stolen time and preemption only ever add. The
//! median ignores them, and its interval needs no distribution: it lies between two order
//! statistics, as Hoefler and Belli recommend (*Scientific Benchmarking of Parallel Computing
//! Systems*, SC 2015) and Le Boudec derives (*Performance Evaluation of Computer and Communication
//! Systems*, on confidence intervals for the median).

/// A sample above this many medians counts as interrupted and is left out.
///
/// A sample is the timed part of a lap of the ring, less than ten microseconds; an interrupt lasts
/// about as long, a lost time slice a thousand times. A core that its SMT sibling shares takes
/// twice as long, which is not an interruption and must stay in.
pub const OUTLIER_FACTOR: f64 = 4.0;

/// A median with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The median, in nanoseconds.
    pub median: f64,
    /// Half width of the 95 % interval, in nanoseconds: the larger of its two sides, and half of
    /// what the median drifted between the first and the second half of the samples.
    pub half_width: f64,
    /// The number of samples used.
    pub samples: u64,
    /// The number of samples left out as interrupted.
    pub discarded: u64,
}

impl Estimate {
    /// Makes the estimate from samples in the order in which they were taken; `None` without a
    /// finite sample.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_probe::Estimate;
    ///
    /// let estimate = Estimate::of(&[31.0, 30.0, 9000.0, 29.0, 30.0]).unwrap();
    /// assert_eq!((estimate.median, estimate.discarded), (30.0, 1));
    /// ```
    #[must_use]
    pub fn of(samples: &[f64]) -> Option<Self> {
        let finite: Vec<f64> = samples.iter().copied().filter(|s| s.is_finite()).collect();
        let cut = OUTLIER_FACTOR * median(&sorted(&finite))?;
        let kept: Vec<f64> = finite.iter().copied().filter(|&s| s <= cut).collect();
        // The list is only empty when all samples are negative; their order is then as good as any.
        let kept = if kept.is_empty() { finite } else { kept };
        let order = sorted(&kept);
        let middle = median(&order)?;
        let (low, high) = interval(&order);
        let (first, second) = kept.split_at(kept.len() / 2);
        let drift = match (median(&sorted(first)), median(&sorted(second))) {
            (Some(first), Some(second)) => (second - first).abs(),
            _ => 0.0,
        };
        Some(Self {
            median: middle,
            half_width: (middle - low).max(high - middle).max(drift / 2.0),
            samples: kept.len() as u64,
            discarded: (samples.len() - kept.len()) as u64,
        })
    }

    /// Whether the half width is at most this share of the median.
    #[must_use]
    pub fn settled(&self, precision: f64) -> bool {
        self.half_width <= precision * self.median.abs()
    }
}

/// Returns the samples from the least to the greatest.
pub(crate) fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut order = samples.to_vec();
    order.sort_by(f64::total_cmp);
    order
}

/// The median of sorted samples.
pub(crate) fn median(order: &[f64]) -> Option<f64> {
    let last = order.len().checked_sub(1)?;
    Some(f64::midpoint(order[last / 2], order[last - last / 2]))
}

/// Returns the two order statistics that enclose the true median with 95 % probability; the whole
/// range where there are too few samples for that.
fn interval(order: &[f64]) -> (f64, f64) {
    let n = order.len();
    // 1.96 standard deviations of a binomial with p = 1/2, which is close from 6 samples on.
    let reach = 1.96 * (n as f64).sqrt() / 2.0;
    let low = (n as f64 / 2.0 - reach).floor().max(0.0) as usize;
    let high = (n as f64 / 2.0 + reach).ceil() as usize;
    if n < 6 {
        return (order[0], order[n - 1]);
    }
    (order[low], order[high.min(n - 1)])
}

#[cfg(test)]
mod tests;
