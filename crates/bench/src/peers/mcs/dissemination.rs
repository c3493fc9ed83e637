//! The dissemination barrier.
//!
//! ```text
//! round k: rank r tells rank (r + 2^k) mod n, and waits for rank (r − 2^k) mod n
//! ```
//!
//! After round k a rank has heard, directly or not, of 2^(k+1) ranks. A rank may be a whole barrier
//! ahead of another, never two, so there are two sets of flags, used in turn (parity), and what
//! counts as set is reversed after both were used (sense): no flag is ever cleared.

use crate::crew::Waiting;
use crate::engine::{Engine, Member};
use corecast_wire::Line;
use std::sync::atomic::{AtomicBool, Ordering};

/// The dissemination barrier of Hensgen, Finkel and Manber, with parity and sense as Mellor-Crummey
/// and Scott have it.
///
/// # Cost
///
/// `n ⌈log₂ n⌉` stores that others read, `⌈log₂ n⌉` of them one after the other.
#[derive(Debug)]
pub struct DisseminationBarrier {
    /// By rank, then parity, then round.
    flags: Box<[Line<AtomicBool>]>,
    ranks: usize,
    rounds: usize,
    waiting: Waiting,
}

/// Where a rank is in the sequence of barriers.
#[derive(Clone, Copy, Debug)]
struct BarrierPhase {
    parity: usize,
    sense: bool,
}

impl BarrierPhase {
    fn next(self) -> BarrierPhase {
        BarrierPhase {
            parity: 1 - self.parity,
            sense: self.sense != (self.parity == 1),
        }
    }
}

impl DisseminationBarrier {
    /// A barrier of `ranks` ranks; `oversubscribed` if they share PUs.
    ///
    /// # Panics
    ///
    /// If there is no rank.
    pub fn new(ranks: usize, oversubscribed: bool) -> DisseminationBarrier {
        assert!(ranks > 0, "a barrier of no rank");
        let rounds = ranks.next_power_of_two().ilog2() as usize;
        DisseminationBarrier {
            flags: (0..ranks * 2 * rounds).map(|_| Line::default()).collect(),
            ranks,
            rounds,
            waiting: Waiting::new(oversubscribed),
        }
    }

    fn flag(&self, rank: usize, phase: BarrierPhase, round: usize) -> &AtomicBool {
        &self.flags[(2 * rank + phase.parity) * self.rounds + round]
    }

    fn pass(&self, rank: usize, phase: BarrierPhase) {
        for round in 0..self.rounds {
            let partner = (rank + (1 << round)) % self.ranks;
            // The partner's Acquire pairs with this Release.
            let told = self.flag(partner, phase, round);
            told.store(phase.sense, Ordering::Release);
            let own = self.flag(rank, phase, round);
            self.waiting
                .until(|| own.load(Ordering::Acquire) == phase.sense);
        }
    }
}

impl Engine for DisseminationBarrier {
    fn name(&self) -> &str {
        "dissemination (MCS)"
    }

    fn setting(&self) -> String {
        self.waiting.setting()
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        let mut phase = BarrierPhase {
            parity: 0,
            sense: true,
        };
        Box::new(move |operations| {
            for _ in 0..operations {
                self.pass(rank, phase);
                phase = phase.next();
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::mcs::tests::left_early;
    use std::time::Duration;

    #[test]
    fn flags_come_in_pairs_of_sets_and_their_sense_turns() {
        let mut phase = BarrierPhase {
            parity: 0,
            sense: true,
        };
        let mut seen = Vec::new();
        for _ in 0..5 {
            seen.push((phase.parity, phase.sense));
            phase = phase.next();
        }
        assert_eq!(
            seen,
            [(0, true), (1, true), (0, false), (1, false), (0, true)]
        );
        for (ranks, rounds) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4)] {
            assert_eq!(DisseminationBarrier::new(ranks, true).rounds, rounds);
        }
    }

    #[test]
    fn a_round_too_few_is_caught() {
        let barrier = DisseminationBarrier {
            rounds: 2,
            ..DisseminationBarrier::new(5, true)
        };
        // Rank 4 hears of all others. It leaves for certain, but on a busy machine not soon.
        assert!(left_early(&barrier, 0, Duration::from_secs(100)));
    }
}
