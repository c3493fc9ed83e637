//! Races whose winners are not confirmed yet, which get further replicates in turn.

use crate::candidates::{Asked, CandidateSet};
use crate::racer::Contender;
use crate::sequential_test::SequentialTest;
use corecast_model::Collective;
use std::time::Duration;

/// A race to which replicates can be added.
#[derive(Clone, Debug)]
pub(crate) struct Unconfirmed {
    pub(crate) operation: Collective,
    pub(crate) bytes: usize,
    /// The algorithm from which a race of sizes began; `None` for a race of algorithms.
    pub(crate) sizes_of: Option<Asked>,
    pub(crate) candidate_set: CandidateSet,
    pub(crate) contenders: Vec<Contender>,
    pub(crate) test: SequentialTest,
    /// Time that a replicate takes.
    pub(crate) replicate: Duration,
}

impl Unconfirmed {
    fn replicates_left(&self) -> u32 {
        let most = self.test.rules().replicates_most;
        most.saturating_sub(self.test.replicates())
    }
}

/// All unconfirmed races of a tuning.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnconfirmedRaces(Vec<Unconfirmed>);

impl UnconfirmedRaces {
    /// Adds a race, unless it needs no further replicate or may have none.
    pub(crate) fn add(&mut self, unconfirmed: Unconfirmed) {
        if unconfirmed.replicates_left() > 0 && !unconfirmed.test.enough() {
            self.0.push(unconfirmed);
        }
    }

    /// Drops the races of sizes of an operation at a size.
    pub(crate) fn forget_sizes(&mut self, operation: Collective, bytes: usize) {
        self.0.retain(|one| {
            one.sizes_of.is_none() || (one.operation, one.bytes) != (operation, bytes)
        });
    }

    /// Drops the races of an operation at a size.
    pub(crate) fn forget(&mut self, operation: Collective, bytes: usize) {
        self.0
            .retain(|unconfirmed| (unconfirmed.operation, unconfirmed.bytes) != (operation, bytes));
    }

    /// Removes the race with the fewest replicates of those whose next one takes at most `left`, and begins that
    /// replicate. So the replicates of one race lie far apart in time.
    pub(crate) fn next(&mut self, left: Duration) -> Option<Unconfirmed> {
        let fits = |(_, unconfirmed): &(usize, &Unconfirmed)| unconfirmed.replicate <= left;
        let all = self.0.iter().enumerate().filter(fits);
        let (at, _) = all.min_by_key(|(_, unconfirmed)| unconfirmed.test.replicates())?;
        let mut unconfirmed = self.0.remove(at);
        unconfirmed.test.next_replicate().then_some(unconfirmed)
    }

    /// The time of all further replicates that the races may have.
    pub(crate) fn time_at_most(&self) -> Duration {
        let one = |unconfirmed: &Unconfirmed| unconfirmed.replicate * unconfirmed.replicates_left();
        self.0.iter().map(one).sum()
    }
}
