//! A queue of members by the time from which they are idle.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Members by the time from which they are idle; of those idle at once the lowest rank is first.
///
/// # Cost
///
/// Taking or adding a member is logarithmic in their number.
#[derive(Debug)]
pub(crate) struct Idle(BinaryHeap<Reverse<IdleMember>>);

#[derive(Debug, PartialEq)]
struct IdleMember {
    since: f64,
    rank: usize,
}

impl Eq for IdleMember {}

impl Ord for IdleMember {
    fn cmp(&self, other: &Self) -> Ordering {
        self.since
            .total_cmp(&other.since)
            .then(self.rank.cmp(&other.rank))
    }
}

impl PartialOrd for IdleMember {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Idle {
    /// Returns a queue with `rank` alone, which is idle from 0 on.
    pub(crate) fn only(rank: usize) -> Self {
        Self([Reverse(IdleMember { since: 0.0, rank })].into())
    }

    /// Adds `rank`, which is idle from `since` on.
    pub(crate) fn add(&mut self, since: f64, rank: usize) {
        self.0.push(Reverse(IdleMember { since, rank }));
    }

    /// Takes the member that is idle first, with the time.
    pub(crate) fn take(&mut self) -> Option<(f64, usize)> {
        let Reverse(IdleMember { since, rank }) = self.0.pop()?;
        Some((since, rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_the_earliest_and_then_the_lowest_rank() {
        let mut idle = Idle::only(4);
        for (since, rank) in [(2.5, 1), (0.0, 7), (2.5, 0), (1.0, 9)] {
            idle.add(since, rank);
        }
        let order: Vec<_> = std::iter::from_fn(|| idle.take()).collect();
        assert_eq!(order, [(0.0, 4), (0.0, 7), (1.0, 9), (2.5, 0), (2.5, 1)]);
    }
}
