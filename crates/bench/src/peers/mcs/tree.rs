//! The tree barrier.
//!
//! ```text
//! way in, four children each          way out, two children each
//!             0                                   0
//!     ┌───┬───┴───┬───┐                      ┌────┴────┐
//!     1   2       3   4                      1         2
//!     │                                     ┌┴┐       ┌┴┐
//!     5 6 7 8                               3 4       5 6
//! ```
//!
//! A parent has a byte for each child, all in one cache line; a child clears its own. When all are
//! clear the parent sets them again, clears its own byte at its parent, and waits to be woken.
//!
//! Invariant 1: a byte is written by its child while set, and by its parent while clear.
//!
//! Invariant 2: no rank enters the next barrier before it is woken, and wake-ups begin at the root
//! when every byte has been seen clear. So all bytes are set again before any child clears one for
//! the next barrier.

use crate::crew::Waiting;
use crate::engine::{Engine, Member};
use corecast_wire::Line;
use std::sync::atomic::{AtomicBool, Ordering};

/// Children on the way in.
const FAN_IN: usize = 4;

/// Children on the way out.
const FAN_OUT: usize = 2;

/// A rank's place in both trees.
#[derive(Debug)]
struct TreePosition {
    /// Whether each child on the way in is still missing.
    missing: Line<[AtomicBool; FAN_IN]>,
    /// The sense that wakes this rank.
    sense: Line<AtomicBool>,
    /// How many children there are on the way in.
    children: usize,
}

/// The tree barrier of Mellor-Crummey and Scott: arrivals up a tree of four children, wake-ups
/// down a binary one.
///
/// # Cost
///
/// `2 (n − 1)` stores that others read, about `⌈log₄ n⌉ + ⌈log₂ n⌉` of them one after the other.
#[derive(Debug)]
pub struct TreeBarrier {
    places: Box<[TreePosition]>,
    waiting: Waiting,
}

impl TreeBarrier {
    /// A barrier of `ranks` ranks; `oversubscribed` if they share PUs.
    pub fn new(ranks: usize, oversubscribed: bool) -> TreeBarrier {
        let place = |rank: usize| {
            let children = ranks.saturating_sub(FAN_IN * rank + 1).min(FAN_IN);
            TreePosition {
                missing: Line(std::array::from_fn(|at| AtomicBool::new(at < children))),
                sense: Line::default(),
                children,
            }
        };
        TreeBarrier {
            places: (0..ranks).map(place).collect(),
            waiting: Waiting::new(oversubscribed),
        }
    }

    fn pass(&self, rank: usize, sense: bool) {
        let place = &self.places[rank];
        for missing in &place.missing[..place.children] {
            // Acquire pairs with the child's Release below; Relaxed suffices to set the byte again,
            // since the Releases that follow carry it to the child (Invariant 2).
            self.waiting.until(|| !missing.load(Ordering::Acquire));
            missing.store(true, Ordering::Relaxed);
        }
        if rank > 0 {
            let (parent, at) = ((rank - 1) / FAN_IN, (rank - 1) % FAN_IN);
            self.places[parent].missing[at].store(false, Ordering::Release);
            // Acquire pairs with the Release of the rank that wakes this one.
            let own = &place.sense;
            self.waiting.until(|| own.load(Ordering::Acquire) == sense);
        }
        let woken = self.places.iter().skip(FAN_OUT * rank + 1).take(FAN_OUT);
        for child in woken {
            child.sense.store(sense, Ordering::Release);
        }
    }
}

impl Engine for TreeBarrier {
    fn name(&self) -> &str {
        "MCS tree"
    }

    fn setting(&self) -> String {
        self.waiting.setting()
    }

    fn ranks(&self) -> usize {
        self.places.len()
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        let mut sense = true;
        Box::new(move |operations| {
            for _ in 0..operations {
                self.pass(rank, sense);
                sense = !sense;
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
    fn both_trees_reach_every_rank_once() {
        for ranks in 1..=64 {
            let barrier = TreeBarrier::new(ranks, true);
            let children: usize = barrier.places.iter().map(|place| place.children).sum();
            assert_eq!(children, ranks - 1);
            let woken: Vec<usize> = (0..ranks)
                .flat_map(|rank| (0..ranks).skip(FAN_OUT * rank + 1).take(FAN_OUT))
                .collect();
            assert_eq!(woken, (1..ranks).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_parent_that_forgets_a_child_is_caught() {
        for forgetful in [0, 1] {
            let mut barrier = TreeBarrier::new(9, true);
            barrier.places[forgetful].children -= 1;
            // Its last child. Others leave for certain, but on a busy machine not soon.
            let late = FAN_IN * (forgetful + 1);
            assert!(left_early(&barrier, late, Duration::from_secs(100)));
        }
    }
}
