//! The decision when there are enough samples.
//!
//! A counter may tick in steps of ten nanoseconds (Zen: 100 MHz, however fast it claims to count). What is
//! shorter than many steps is a *shot*: a sample is the mean of a group of them, begun at all phases of a step
//! ([`Mate::dither`](super::crew::Mate::dither)), so that the steps average out. A median would snap to one.

use std::time::Instant;

use corecast_model::deep::Figure;

use crate::estimate::{median, sorted};
use crate::{Estimate, OUTLIER_FACTOR};

/// Least number of samples, even when the time is up: fewer make no interval.
const LEAST: usize = 9;

/// Greatest number of samples.
const MOST: usize = 4096;

/// Samples between two looks at them.
const EVERY: usize = 16;

/// A measurement is done when its half width is this part of its median.
const PRECISION: f64 = 0.01;

/// Samples that are thrown away first: code and predictors warm up.
const WARM_UP: usize = 2;

/// Shots of a group, which make one sample.
pub(super) const SHOTS: usize = 16;

/// Chains of a group, which make one sample.
pub(super) const CHAINS: usize = 4;

/// A shot that took no longer than this, several steps of a counter, never counts as interrupted.
const STEPS: f64 = 100.0;

/// The samples of one case.
#[derive(Clone, Debug)]
pub(super) struct Settle {
    /// The number of shots of a sample.
    group: usize,
    shots: Vec<f64>,
    warm_up: usize,
    samples: Vec<f64>,
    deadline: Instant,
}

impl Settle {
    /// `group`: how many shots make a sample, [`SHOTS`] of single accesses, [`CHAINS`] of chains of them, 1 of
    /// what takes microseconds.
    pub(super) fn new(group: usize, deadline: Instant) -> Self {
        Self {
            group,
            shots: Vec::with_capacity(group),
            warm_up: WARM_UP,
            samples: Vec::new(),
            deadline,
        }
    }

    pub(super) fn take(&mut self, shot: f64) {
        self.shots.push(shot);
        if self.shots.len() < self.group {
            return;
        }
        let sample = mean(&self.shots);
        self.shots.clear();
        match self.warm_up {
            0 => self.samples.push(sample),
            _ => self.warm_up -= 1,
        }
    }

    /// Whether there are enough samples, or the time is up.
    pub(super) fn is_settled(&self) -> bool {
        let taken = self.samples.len();
        if taken < LEAST {
            return false;
        }
        if taken >= MOST || Instant::now() >= self.deadline {
            return true;
        }
        taken >= 2 * EVERY
            && taken.is_multiple_of(EVERY)
            && Estimate::of(&self.samples).is_some_and(|estimate| estimate.settled(PRECISION))
    }

    /// Returns the figure of the samples; `None` without samples.
    pub(super) fn figure(&self) -> Option<Figure> {
        figure(&self.samples)
    }
}

/// Returns the mean of shots, without those that were interrupted.
pub(super) fn mean(shots: &[f64]) -> f64 {
    let order = sorted(shots);
    let middle = median(&order).unwrap_or(0.0);
    let cut = STEPS + OUTLIER_FACTOR * middle.max(0.0);
    let kept = order.iter().filter(|&&shot| shot <= cut);
    let (sum, count) = kept.fold((0.0, 0_u32), |(sum, count), shot| (sum + shot, count + 1));
    sum / f64::from(count.max(1))
}

/// Returns median and interval of groups of shots.
pub(super) fn of_shots(shots: &[f64]) -> Option<Figure> {
    let groups = shots.chunks_exact(SHOTS).map(mean);
    figure(&groups.collect::<Vec<_>>())
}

/// Returns median and interval of samples of a time. A time shorter than the clock's own reading counts as 0.
pub(super) fn figure(samples: &[f64]) -> Option<Figure> {
    Estimate::of(samples).map(|estimate| Figure {
        value: estimate.median.max(0.0),
        half_width: estimate.half_width,
        samples: estimate.samples,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(3600)
    }

    #[test]
    fn still_samples_settle_soon_and_wild_ones_at_the_deadline() {
        let mut still = Settle::new(1, later());
        let mut taken = 0;
        while !still.is_settled() {
            // The first ones are cold.
            still.take(if taken < WARM_UP { 500.0 } else { 50.0 });
            taken += 1;
        }
        assert_eq!(taken, 2 * EVERY + WARM_UP);
        let figure = still.figure().unwrap();
        assert_eq!((figure.value, figure.half_width), (50.0, 0.0));

        let mut random = fastrand::Rng::with_seed(1);
        let mut wild = Settle::new(1, later());
        while !wild.is_settled() {
            wild.take(random.f64() * 100.0);
        }
        assert!(wild.samples.len() > 1000);

        let mut late = Settle::new(1, Instant::now());
        while !late.is_settled() {
            late.take(random.f64());
        }
        assert_eq!(late.samples.len(), LEAST);
        assert_eq!(Settle::new(1, later()).figure(), None);
    }

    #[test]
    fn a_clock_of_coarse_steps_tells_times_between_them() {
        let mut random = fastrand::Rng::with_seed(2);
        for truth in [3.0, 17.0, 26.5, 144.0] {
            let mut shots = Settle::new(SHOTS, later());
            while !shots.is_settled() {
                let start = 10.0 * random.f64();
                let interruption = if random.u8(..) == 0 { 5e4 } else { 0.0 };
                let read = |time: f64| (time / 10.0).floor() * 10.0;
                shots.take(read(start + truth + interruption) - read(start));
            }
            let found = shots.figure().unwrap();
            let far = (found.value - truth).abs();
            assert!(far < 0.05 * truth + 0.3, "{found:?} is not {truth}");
        }
    }
}
