//! The parts of a measurement, which can be done one at a time. Pure.
//!
//! Each part has a name that is the same whenever the same threads are measured, so that an interrupted
//! measurement knows what is left. Places are sampled: of each class of pairs a few, spread over the class.

use std::fmt;

use corecast_model::deep::{Level, Near, State};

use super::site::Site;
use crate::Schedule;

/// Number of pairs of each class that are measured, and the number with more hardware threads than
/// [`DeepConfig::sample_above_threads`](super::DeepConfig::sample_above_threads).
const PAIRS_PER_CLASS: [usize; 2] = [4, 2];

/// Hardware threads whose own caches are measured.
const OWN: usize = 2;

/// Most threads of one measurement.
pub(super) const THREADS_MAX: usize = 64;

/// The scope of a measurement in depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All parts are measured.
    All,
    /// Only latencies by state, level and place are measured.
    Coherence,
    /// Only the costs of waiting are measured: pauses, yields, fences, futexes.
    Waits,
}

/// A part of the measurement. Numbers are positions in the list of hardware threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Task {
    /// All states and both accesses of lines of `of` at `level`, timed on `by`.
    Latency { by: usize, of: usize, level: Level },
    /// 1, 2, … threads no farther than `near` read one line at once.
    Contention { near: Near, state: State },
    /// 1, 2, … pairs at this proximity move lines of their own at once.
    Congestion { near: Near },
    /// One thread copies several lines of another one at this proximity.
    Lines { near: Near, state: State },
    /// The order in which readers see a change.
    Readers,
    /// The depth of the write buffer.
    Stores,
    /// The costs of waiting: pauses, yields, fences, futexes.
    Waits,
    /// The bandwidths of copies.
    Bandwidth,
}

/// A task with the operating-system numbers of its threads, for messages and files.
pub(super) struct Named<'a>(pub(super) &'a Site<'a>, pub(super) Task);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pu = |at: usize| self.0.pus[at].os_index;
        match self.1 {
            Task::Latency { by, of, level } if by == of => {
                write!(f, "latency of PU {}, own {level}", pu(by))
            }
            Task::Latency { by, of, level } => {
                write!(f, "latency of PU {}, {level} of PU {}", pu(by), pu(of))
            }
            Task::Contention { near, state } => write!(f, "contention, {near}, {}", state.name()),
            Task::Congestion { near } => write!(f, "congestion, {near}"),
            Task::Lines { near, state } => write!(f, "lines, {near}, {}", state.name()),
            Task::Readers => f.write_str("readers"),
            Task::Stores => f.write_str("stores"),
            Task::Waits => f.write_str("waits"),
            Task::Bandwidth => f.write_str("bandwidth"),
        }
    }
}

/// Returns the parts of a scope.
pub(super) fn all(site: &Site<'_>, scope: Scope, sample_above: usize) -> Vec<Task> {
    if scope == Scope::Waits {
        return vec![Task::Waits];
    }
    let n = site.pus.len();
    let pairs = Schedule::by_class(
        site.machine,
        &site.pus,
        PAIRS_PER_CLASS[usize::from(n > sample_above)],
    )
    .pairs;
    let own = (0..n.min(OWN)).map(|at| (at, at));
    let mut tasks = Vec::new();
    for (by, of) in own.chain(pairs.iter().copied()) {
        let levels = site.levels(of).into_iter();
        tasks.extend(levels.map(|level| Task::Latency { by, of, level }));
    }
    if scope == Scope::Coherence {
        return tasks;
    }
    let alone = [Task::Stores, Task::Waits, Task::Bandwidth];
    tasks.extend(alone);
    for near in site.nears() {
        let lines = [
            State::Modified,
            State::Exclusive,
            State::Shared,
            State::Invalid,
        ];
        tasks.extend(lines.map(|state| Task::Lines { near, state }));
        let contention = [State::Modified, State::Exclusive, State::Invalid];
        tasks.extend(contention.map(|state| Task::Contention { near, state }));
        tasks.push(Task::Congestion { near });
    }
    tasks.push(Task::Readers);
    tasks
}

/// Returns the numbers of threads along a curve: 1, 2, 3, 4, 6, 8, 12, … and `most` itself.
pub(super) fn counts(most: usize) -> Vec<usize> {
    let steps = (0..).flat_map(|k| [2_usize << k, 3 << k]);
    let mut counts: Vec<usize> = [1]
        .into_iter()
        .chain(steps)
        .take_while(|&count| count < most)
        .collect();
    counts.extend((most > 0).then_some(most));
    counts.dedup();
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_model::synthetic;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_different_and_say_what_is_measured() {
        let file = synthetic("package:2 numa:2 core:4 pu:2").unwrap();
        let site = Site::new(file.machine(), file.machine().pus.clone());
        let tasks = all(&site, Scope::All, 64);
        let names: BTreeSet<String> = tasks
            .iter()
            .map(|&task| Named(&site, task).to_string())
            .collect();
        assert_eq!(names.len(), tasks.len());
        for name in [
            "latency of PU 0, own L1",
            "congestion, other package",
            "lines, same core, shared",
            "contention, same NUMA node, invalid",
            "bandwidth",
        ] {
            assert!(names.contains(name), "{name} is not in {names:?}");
        }
        let latencies = all(&site, Scope::Coherence, 64);
        assert!(tasks.starts_with(&latencies));
    }

    #[test]
    fn large_machines_are_sampled_by_class() {
        let file = synthetic("package:4 numa:2 core:16 pu:2").unwrap();
        let site = Site::new(file.machine(), file.machine().pus.clone());
        // 72 classes of ordered pairs, two levels each as no cache is known.
        let pairs = |sample_above| all(&site, Scope::Coherence, sample_above).len();
        assert_eq!(pairs(64), 2 * (OWN + 2 * 72));
        assert_eq!(pairs(1000), 2 * (OWN + 4 * 72));
    }

    #[test]
    fn counts_grow_and_end_at_the_last() {
        assert!(counts(0).is_empty());
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(2), [1, 2]);
        assert_eq!(counts(5), [1, 2, 3, 4, 5]);
        assert_eq!(counts(63), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 63]);
    }
}
