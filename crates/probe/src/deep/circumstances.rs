//! The circumstances of a measurement: how steady its cores are, and how much time the host takes.

use std::collections::BTreeMap;

use corecast_machine::{CpuTime, cpu_time};
use corecast_model::deep::{Access, Latency, Level, Near, State};

use super::timer::Timer;
use crate::hardware::chain;

/// Multiplications of a chain: some 10 µs.
const LINKS: u32 = 8_000;

/// Chains of one look. The fastest one counts, because interruptions only add time.
const CHAINS: usize = 5;

/// The drift, the stolen share and the factor between latencies from which on the user gets a note.
const DRIFT_NOTICED: f64 = 0.05;
const STEAL_NOTICED: f64 = 0.005;
const APART_NOTICED: f64 = 3.0;

/// Returns the nanoseconds of a fixed chain of instructions on the calling thread's core.
pub(super) fn pace(timer: &Timer) -> f64 {
    let once = || {
        let start = timer.now();
        chain(LINKS);
        timer.ns(start, timer.now())
    };
    (0..CHAINS).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// The measured processors' pace and stolen time so far.
#[derive(Clone, Debug, Default)]
pub(super) struct ObservedProcessors {
    /// Fastest and slowest pace by operating-system number.
    paces: BTreeMap<u32, (f64, f64)>,
    begin: Option<CpuTime>,
}

impl ObservedProcessors {
    pub(super) fn new(pus: &[u32]) -> Self {
        Self {
            paces: BTreeMap::new(),
            begin: cpu_time(pus),
        }
    }

    pub(super) fn note(&mut self, os_index: u32, pace: f64) {
        let entry = self.paces.entry(os_index).or_insert((pace, pace));
        *entry = (entry.0.min(pace), entry.1.max(pace));
    }

    /// Returns (slowest − fastest) / fastest, of the processor where that is most.
    pub(super) fn drift(&self) -> f64 {
        let parts = self.paces.values().filter(|(fastest, _)| *fastest > 0.0);
        parts
            .map(|(fastest, slowest)| slowest / fastest - 1.0)
            .fold(0.0, f64::max)
    }

    /// Returns the share of the processors' time that the host took since the beginning.
    pub(super) fn steal(&self, pus: &[u32]) -> f64 {
        match (&self.begin, cpu_time(pus)) {
            (Some(begin), Some(now)) => now.stolen_since(begin),
            _ => 0.0,
        }
    }
}

/// Returns notes for the user on the circumstances.
pub(super) fn notes(drift: f64, steal: f64, latencies: &[Latency]) -> Vec<String> {
    let mut notes = Vec::new();
    let moved = |latency: &&Latency| {
        matches!(latency.near, Near::SameCore | Near::SameCache(_))
            && latency.level != Level::Memory
            && latency.state == State::Modified
            && latency.access == Access::Read
    };
    let times = || {
        latencies
            .iter()
            .filter(moved)
            .map(|latency| latency.ns.value)
    };
    let (least, most) = (
        times().fold(f64::INFINITY, f64::min),
        times().fold(0.0, f64::max),
    );
    if most > APART_NOTICED * least {
        notes.push(format!(
            "lines of threads that share a cache, by what the system says, took {least:.0} to {most:.0} ns: \
             they do not share it, or a host moved its virtual processors meanwhile"
        ));
    }
    if drift > DRIFT_NOTICED {
        notes.push(format!(
            "a core's speed changed by {:.0} % meanwhile: its frequency drifted, or its host ran something else on it",
            100.0 * drift
        ));
    }
    if steal > STEAL_NOTICED {
        notes.push(format!(
            "the host took {:.1} % of the processors' time meanwhile",
            100.0 * steal
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_that_of_the_worst_core() {
        let mut seen = ObservedProcessors::default();
        assert_eq!(seen.drift(), 0.0);
        for (pu, pace) in [(0, 10.0), (1, 20.0), (0, 11.0), (1, 20.0), (0, 10.5)] {
            seen.note(pu, pace);
        }
        assert!((seen.drift() - 0.1).abs() < 1e-9);
        assert_eq!(notes(0.1, 0.02, &[]).len(), 2);
        assert!(notes(0.01, 0.0, &[]).is_empty());
    }

    #[test]
    fn cores_that_are_apart_by_day_and_near_by_night_are_noticed() {
        let latency = |value| Latency {
            access: Access::Read,
            state: State::Modified,
            level: Level::Cache(1),
            near: Near::SameCache(3),
            by: 0,
            of: 1,
            ns: corecast_model::deep::Figure {
                value,
                ..Default::default()
            },
        };
        assert!(notes(0.0, 0.0, &[latency(24.0), latency(26.0)]).is_empty());
        let notes = notes(0.0, 0.0, &[latency(24.0), latency(135.0)]);
        assert!(notes[0].contains("24 to 135 ns"), "{notes:?}");
    }
}
