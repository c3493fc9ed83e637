//! Races whose winners are not confirmed yet: who gets one more heat.

use crate::field::Field;
use crate::judge::Judge;
use crate::racer::Contender;
use corecast_bench::sized::Operation;
use std::time::Duration;

/// A race that may go on.
#[derive(Clone, Debug)]
pub(crate) struct Doubt {
    pub(crate) operation: Operation,
    pub(crate) bytes: usize,
    pub(crate) field: Field,
    pub(crate) contenders: Vec<Contender>,
    pub(crate) judge: Judge,
    /// Time of a heat.
    pub(crate) heat: Duration,
}

impl Doubt {
    fn heats_left(&self) -> u32 {
        let most = self.judge.rules().heats_most;
        most.saturating_sub(self.judge.heats())
    }
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Doubts(Vec<Doubt>);

impl Doubts {
    /// Keeps a race, unless there is nothing more to find out, or it had as many heats as it may have.
    pub(crate) fn add(&mut self, doubt: Doubt) {
        if doubt.heats_left() > 0 && !doubt.judge.enough() {
            self.0.push(doubt);
        }
    }

    /// Drops the races of an operation at a size.
    pub(crate) fn forget(&mut self, operation: Operation, bytes: usize) {
        self.0
            .retain(|doubt| (doubt.operation, doubt.bytes) != (operation, bytes));
    }

    /// Takes out who had the fewest heats of those whose next one takes at most `left`, and begins that heat: so heats of one
    /// race lie far apart in time.
    pub(crate) fn next(&mut self, left: Duration) -> Option<Doubt> {
        let fits = |(_, doubt): &(usize, &Doubt)| doubt.heat <= left;
        let all = self.0.iter().enumerate().filter(fits);
        let (at, _) = all.min_by_key(|(_, doubt)| doubt.judge.heats())?;
        let mut doubt = self.0.remove(at);
        doubt.judge.next_heat().then_some(doubt)
    }

    /// What all heats take that there may be.
    pub(crate) fn time_at_most(&self) -> Duration {
        let one = |doubt: &Doubt| doubt.heat * doubt.heats_left();
        self.0.iter().map(one).sum()
    }
}
