//! Barriers in rounds: everybody notifies some others, waits to be notified, and goes on.
//!
//! A schedule says whom each rank notifies in each round. It is a barrier when after the last round
//! everybody has heard, directly or through others, of everybody's arrival; [`Rounds::new`] checks
//! exactly that.

mod error;

pub use error::RoundsError;

use corecast_model::CostModel;

/// A validated schedule of rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rounds {
    n: usize,
    /// `targets[k][r]` lists the ranks that r notifies in round k, in order.
    targets: Vec<Vec<Vec<usize>>>,
    /// `sources[k][r]` lists the ranks that notify r in round k, in the order in which r waits for
    /// them.
    sources: Vec<Vec<Vec<usize>>>,
}

impl Rounds {
    /// Makes the schedule with these targets: `targets[k][r]` lists the ranks that r notifies in
    /// round k.
    ///
    /// # Errors
    ///
    /// No members, a round with lists for another number of ranks, a target that is outside of the
    /// team, the rank itself or repeated, and a schedule that does not synchronise.
    ///
    /// # Cost
    ///
    /// One row of n bits is merged for each notification: n²·log₂(n)/64 words for a dissemination.
    pub fn new(n: usize, targets: Vec<Vec<Vec<usize>>>) -> Result<Self, RoundsError> {
        if n == 0 {
            return Err(RoundsError::Empty);
        }
        let mut sources = Vec::with_capacity(targets.len());
        for (round, lists) in targets.iter().enumerate() {
            if lists.len() != n {
                return Err(RoundsError::Length {
                    round,
                    found: lists.len(),
                    expected: n,
                });
            }
            let mut heard = vec![Vec::new(); n];
            for (rank, list) in lists.iter().enumerate() {
                for &target in list {
                    if target >= n || target == rank {
                        return Err(RoundsError::Target {
                            round,
                            rank,
                            target,
                            last: n - 1,
                        });
                    }
                    // Ranks come in increasing order, so a repeated source would be the last one.
                    if heard[target].last() == Some(&rank) {
                        return Err(RoundsError::Repeated {
                            round,
                            rank,
                            target,
                        });
                    }
                    heard[target].push(rank);
                }
            }
            // Each rank waits for its nearest predecessor first, which spreads the waits of a
            // dissemination evenly.
            for (rank, list) in heard.iter_mut().enumerate() {
                list.sort_by_key(|&source| (rank + n - source) % n);
            }
            sources.push(heard);
        }
        let rounds = Self {
            n,
            targets,
            sources,
        };
        rounds.check_knowledge()?;
        Ok(rounds)
    }

    /// The n-way dissemination barrier (CLa §3.3: "m-way" with m = radix − 1; radix 2 is Hensgen,
    /// Finkel and Manber's).
    ///
    /// In round k rank r notifies ranks `r + m·radix^k` mod n for m from 1 to radix − 1. Distances
    /// of n or more are left out: those ranks are notified by others.
    ///
    /// ```text
    ///    radix 2, 4 members
    ///    round 0   0 ─► 1 ─► 2 ─► 3 ─► 0
    ///    round 1   0 ─► 2 ─► 0    1 ─► 3 ─► 1
    /// ```
    ///
    /// # Panics
    ///
    /// When `n` is 0 or the radix below 2.
    ///
    /// # Cost
    ///
    /// ⌈log_radix n⌉ rounds; each rank sends and receives at most radix − 1 notifications in each.
    #[must_use]
    pub fn dissemination(n: usize, radix: usize) -> Self {
        assert!(n > 0, "a barrier has members");
        assert!(
            radix >= 2,
            "a dissemination has a radix of at least 2, not {radix}"
        );
        let mut targets = Vec::new();
        let mut place = 1;
        while place < n {
            let distances = (1..radix).map(|m: usize| m.saturating_mul(place));
            let distances: Vec<usize> = distances.take_while(|&d| d < n).collect();
            let round = (0..n).map(|r| distances.iter().map(|d| (r + d) % n).collect());
            targets.push(round.collect());
            place = place.saturating_mul(radix);
        }
        match Self::new(n, targets) {
            Ok(rounds) => rounds,
            Err(error) => panic!("a dissemination is a barrier: {error}"),
        }
    }

    /// Number of members.
    #[must_use]
    #[expect(
        clippy::len_without_is_empty,
        reason = "a barrier has at least one member"
    )]
    pub fn len(&self) -> usize {
        self.n
    }

    /// Number of rounds.
    #[must_use]
    pub fn count(&self) -> usize {
        self.targets.len()
    }

    /// Returns the ranks that a rank notifies in a round, in order.
    ///
    /// # Panics
    ///
    /// When there is no such round or rank; [`Rounds::sources`] panics then, too.
    #[must_use]
    pub fn targets(&self, round: usize, rank: usize) -> &[usize] {
        &self.targets[round][rank]
    }

    /// Returns the ranks that a rank waits for in a round, in order.
    #[must_use]
    pub fn sources(&self, round: usize, rank: usize) -> &[usize] {
        &self.sources[round][rank]
    }

    /// Returns the number of notifications of all ranks in all rounds.
    #[must_use]
    pub fn notifications(&self) -> usize {
        self.targets.iter().flatten().map(Vec::len).sum()
    }

    /// Returns when each rank leaves, if all enter at 0, under the cost model of trees.
    ///
    /// In each round a rank is blocked `send` for each notification in turn, and then takes its own
    /// in order: it waits for the next one and is blocked `receive` to take it.
    ///
    /// # Panics
    ///
    /// When model and schedule have different numbers of members.
    #[must_use]
    pub fn leave_times(&self, costs: &CostModel) -> Vec<f64> {
        assert_eq!(
            costs.n(),
            self.n,
            "the schedule and the cost model are of different teams"
        );
        let mut clock = vec![0.0_f64; self.n];
        for (targets, sources) in self.targets.iter().zip(&self.sources) {
            // For each rank the pairs (source, time at which its notification is ready).
            let mut ready: Vec<Vec<(usize, f64)>> = vec![Vec::new(); self.n];
            for (r, list) in targets.iter().enumerate() {
                for &t in list {
                    clock[r] += costs.send(r, t);
                    ready[t].push((r, clock[r]));
                }
            }
            for (r, list) in sources.iter().enumerate() {
                ready[r].sort_unstable_by_key(|&(source, _)| source);
                for &s in list {
                    let at = ready[r].partition_point(|&(source, _)| source < s);
                    clock[r] = clock[r].max(ready[r][at].1) + costs.receive(s, r);
                }
            }
        }
        clock
    }

    /// Returns when the last rank leaves, see [`Rounds::leave_times`].
    #[must_use]
    pub fn latency(&self, costs: &CostModel) -> f64 {
        self.leave_times(costs).into_iter().fold(0.0, f64::max)
    }

    /// Checks that after the last round every rank has heard of every other. Each rank has a row of
    /// bits.
    fn check_knowledge(&self) -> Result<(), RoundsError> {
        let n = self.n;
        let words = n.div_ceil(64);
        let mut heard = vec![vec![0_u64; words]; n];
        for (r, row) in heard.iter_mut().enumerate() {
            row[r / 64] |= 1 << (r % 64);
        }
        for sources in &self.sources {
            // Notifications of one round are sent before any of that round are taken.
            let before = heard.clone();
            for (r, list) in sources.iter().enumerate() {
                for &s in list {
                    heard[r]
                        .iter_mut()
                        .zip(&before[s])
                        .for_each(|(word, other)| *word |= other);
                }
            }
        }
        for (rank, row) in heard.iter().enumerate() {
            if let Some(unheard) = (0..n).find(|&u| row[u / 64] >> (u % 64) & 1 == 0) {
                return Err(RoundsError::NotABarrier { rank, unheard });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
