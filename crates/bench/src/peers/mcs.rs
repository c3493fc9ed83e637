//! The barriers of Mellor-Crummey and Scott, with which Smelt compared its own.
//!
//! | engine | fan-in | fan-out | stores for n ranks |
//! | --- | --- | --- | --- |
//! | [`TreeBarrier`] | tree of four children | binary tree | 2 (n − 1) |
//! | [`DisseminationBarrier`] | ⌈log₂ n⌉ rounds of all ranks | none | n ⌈log₂ n⌉ |
//!
//! Both only load and store, and each rank waits on cache lines of its own.
//!
//! Source: Mellor-Crummey and Scott, *Algorithms for Scalable Synchronization on Shared-Memory
//! Multiprocessors*, ACM TOCS 9(1), 1991, §3.3 and §3.5. Smelt §5.4 races against both.

mod dissemination;
mod tree;

pub use dissemination::DisseminationBarrier;
pub use tree::TreeBarrier;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::{Entrant, Settings, Status, cpu_placement, race};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    /// How long ranks that must not leave are looked at.
    const GLANCE: Duration = Duration::from_millis(20);

    /// Whether a rank leaves a new barrier while `late` has not come, within so long. Each rank passes it once, so
    /// that no rank hangs in a broken barrier.
    pub(super) fn left_early(barrier: &impl Engine, late: usize, within: Duration) -> bool {
        let left = AtomicUsize::new(0);
        thread::scope(|scope| {
            for rank in (0..barrier.ranks()).filter(|&rank| rank != late) {
                let left = &left;
                scope.spawn(move || {
                    barrier.member(rank).run(1);
                    left.fetch_add(1, Ordering::Relaxed);
                });
            }
            let start = Instant::now();
            let early = || left.load(Ordering::Relaxed) > 0;
            while !early() && start.elapsed() < within {
                thread::sleep(Duration::from_millis(1));
            }
            let early = early();
            barrier.member(late).run(1);
            early
        })
    }

    #[test]
    fn nobody_leaves_before_the_last_has_come() {
        for ranks in 2..=9 {
            for late in 0..ranks {
                assert!(!left_early(&TreeBarrier::new(ranks, true), late, GLANCE));
                assert!(!left_early(
                    &DisseminationBarrier::new(ranks, true),
                    late,
                    GLANCE
                ));
            }
        }
    }

    #[test]
    fn many_barriers_one_after_the_other_keep_ranks_together() {
        for ranks in [1, 2, 3, 5, 6, 9] {
            let placements = cpu_placement::free(ranks);
            let oversubscribed = cpu_placement::oversubscribed(&placements);
            let entrants = [
                Entrant::threads(TreeBarrier::new(ranks, oversubscribed)),
                Entrant::threads(DisseminationBarrier::new(ranks, oversubscribed)),
            ];
            let race = race::run("", &placements, &Settings::quick(), &entrants, |_| {}).unwrap();
            for entry in &race.entries {
                assert_eq!(entry.status, Status::Timed, "{ranks} ranks, {}", entry.name);
            }
        }
    }
}
