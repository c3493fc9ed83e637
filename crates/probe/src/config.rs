//! The configuration of a pairwise measurement.

use std::collections::HashSet;
use std::time::Duration;

use corecast_machine::CpuList;
use corecast_model::{Machine, Pu};
use corecast_wire::queue::{Backend, DEFAULT_SLOTS};

use crate::ProbeError;

/// The threads, the queues and the time of a pairwise measurement.
///
/// # Examples
///
/// ```
/// use corecast_probe::Config;
///
/// let machine = corecast_machine::discover().machine;
/// let config = Config::whole(&machine);
/// assert_eq!(config.pus.len(), machine.pus.len());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Operating-system numbers of the hardware threads; entry r becomes row r.
    pub pus: Vec<u32>,
    /// The protocol of the queues.
    pub backend: Backend,
    /// Slots of each queue: a power of two, a multiple of `batch`.
    pub slots: usize,
    /// Messages sent or received in one timed section (Smelt §3.2: 8).
    pub batch: usize,
    /// A pair is done when the half width of each 95 % interval is at most this part of its
    /// median.
    pub precision: f64,
    /// Samples of each quantity of a pair, at least; a sample is one lap of the ring.
    pub samples_min: usize,
    /// Samples of each quantity of a pair, at most.
    pub samples_max: usize,
    /// The whole measurement is to end within this time as far as [`Config::PAIR_TIME_MIN`] for
    /// each pair allows. It ends earlier when the machine is quiet.
    pub time_limit: Duration,
    /// With more threads than this, a few pairs of each topology class are measured instead of
    /// all.
    pub sample_above_threads: usize,
    /// Pairs measured of each topology class, when sampling.
    pub sample_pairs_per_class: usize,
}

impl Config {
    /// No pair is given less time than this, so that there are enough samples for an interval.
    pub const PAIR_TIME_MIN: Duration = Duration::from_millis(12);

    /// No pair is given more time than this: a machine that is too busy to settle stays so.
    pub const PAIR_TIME_MAX: Duration = Duration::from_millis(600);

    /// The defaults for these hardware threads.
    #[must_use]
    pub fn new(pus: Vec<u32>) -> Self {
        Self {
            pus,
            backend: Backend::Ump,
            slots: DEFAULT_SLOTS,
            batch: 8,
            precision: 0.01,
            samples_min: 64,
            samples_max: 2048,
            time_limit: Duration::from_secs(60),
            sample_above_threads: 64,
            sample_pairs_per_class: 5,
        }
    }

    /// The defaults for all hardware threads of a machine, in its order.
    #[must_use]
    pub fn whole(machine: &Machine) -> Self {
        Self::new(machine.pus.iter().map(|pu| pu.os_index).collect())
    }

    /// Returns the time that each of `pairs` pairs may take.
    #[must_use]
    pub fn pair_time(&self, pairs: usize) -> Duration {
        let share = self.time_limit / u32::try_from(pairs.max(1)).unwrap_or(u32::MAX);
        share.clamp(Self::PAIR_TIME_MIN, Self::PAIR_TIME_MAX)
    }

    /// Checks the configuration and returns the hardware threads in the given order.
    pub(crate) fn checked(&self, machine: &Machine) -> Result<Vec<Pu>, ProbeError> {
        machine.validate()?;
        self.check_numbers()?;
        let mut seen = HashSet::new();
        let mut pus = Vec::with_capacity(self.pus.len());
        for &os_index in &self.pus {
            if !seen.insert(os_index) {
                return Err(ProbeError::Duplicate { os_index });
            }
            let pu = machine.pu(os_index).ok_or_else(|| ProbeError::Unknown {
                os_index,
                machine: machine.name.clone(),
                known: machine
                    .pus
                    .iter()
                    .map(|pu| pu.os_index)
                    .collect::<CpuList>(),
            })?;
            pus.push(*pu);
        }
        match *pus {
            [] => Err(ProbeError::Empty),
            [one] => Err(ProbeError::OnePu {
                os_index: one.os_index,
            }),
            _ => Ok(pus),
        }
    }

    fn check_numbers(&self) -> Result<(), ProbeError> {
        let (slots, batch) = (self.slots, self.batch);
        if !slots.is_power_of_two() || slots < 2 || batch == 0 || !slots.is_multiple_of(batch) {
            return Err(ProbeError::Shape { slots, batch });
        }
        if self.samples_min == 0 || self.samples_max < self.samples_min {
            return Err(ProbeError::Samples {
                min: self.samples_min,
                max: self.samples_max,
            });
        }
        if self.precision.is_nan() || self.precision <= 0.0 {
            return Err(ProbeError::Precision {
                found: self.precision.to_string(),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_model::synthetic;

    fn refused(change: impl FnOnce(&mut Config)) -> String {
        let machine = synthetic("package:1 core:4 pu:1").unwrap();
        let mut config = Config::whole(machine.machine());
        change(&mut config);
        config.checked(machine.machine()).unwrap_err().to_string()
    }

    #[test]
    fn bad_lists_are_quoted() {
        assert!(refused(|c| c.pus = vec![0, 2, 0]).contains("PU 0 is listed twice"));
        let unknown = refused(|c| c.pus = vec![0, 77]);
        assert!(
            unknown.contains("77") && unknown.contains("0-3"),
            "{unknown}"
        );
        assert!(refused(|c| c.pus = vec![]).contains("name at least two"));
        assert!(refused(|c| c.pus = vec![3]).contains("PU 3"));
    }

    #[test]
    fn bad_numbers_are_quoted() {
        assert!(refused(|c| c.slots = 48).contains("48"));
        assert!(refused(|c| c.batch = 0).contains("batches of 0"));
        assert!(refused(|c| c.batch = 128).contains("128"));
        assert!(refused(|c| c.samples_max = 3).contains("at most 3"));
        assert!(refused(|c| c.precision = f64::NAN).contains("NaN"));
    }

    #[test]
    fn time_is_shared_between_pairs_within_bounds() {
        let config = Config::new(vec![0, 1]);
        assert_eq!(config.pair_time(2), Config::PAIR_TIME_MAX);
        assert_eq!(config.pair_time(1000), Duration::from_millis(60));
        assert_eq!(config.pair_time(1_000_000), Config::PAIR_TIME_MIN);
        assert_eq!(config.pair_time(0), Config::PAIR_TIME_MAX);
    }
}
