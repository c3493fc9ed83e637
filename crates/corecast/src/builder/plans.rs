//! Chooses the plans of a team.

use corecast_collectives::{BarrierPlan, Plans};
use corecast_plan::{Operation, PlanError, Tree};

use super::draft::TeamDraft;
use crate::choose::{Before, Choice, Chooser, DecidedBy};
use crate::error::Error;

impl TeamDraft {
    /// Chooses the plans, after those of `before` where this team goes on for it; returns the decisions too, for barrier,
    /// broadcast and reduce in this order.
    pub(super) fn choose(
        &self,
        before: Option<&Before<'_>>,
    ) -> Result<(Vec<Choice>, Plans), Error> {
        let costs = self.costs.both_ways();
        let chooser =
            Chooser::new(costs, &self.rank_pus, &self.preferences, &self.races)?.guarded();
        let chooser = chooser.after(before).counting(self.shares());
        let broadcast = chooser.choose(Operation::Broadcast)?;
        let reduce = chooser.choose(Operation::Reduce)?;
        let barrier = chooser.choose(Operation::Barrier)?;
        let plans = self.plans(&barrier, &broadcast, &reduce)?;
        Ok((vec![barrier, broadcast, reduce], plans))
    }

    /// The chosen plans, with each rank's package where ranks are pinned.
    pub(super) fn plans(
        &self,
        barrier: &Choice,
        broadcast: &Choice,
        reduce: &Choice,
    ) -> Result<Plans, Error> {
        let plan = match self.counts(barrier) {
            true => BarrierPlan::Counter(self.rank_pus.len()),
            false => barrier_plan(barrier)?,
        };
        let plans = Plans::new(plan, tree_plan(broadcast)?, tree_plan(reduce)?)?;
        let plans = plans.with_copies(self.costs.both_ways());
        Ok(match self.packages() {
            Some(packages) => plans.with_packages(packages)?,
            None => plans,
        })
    }

    /// Whether the barrier is a counter in one line, whatever the model says. Where ranks share hardware
    /// threads, most of the time is spent on waiting for a turn on a PU, which the model leaves out.
    pub(super) fn counts(&self, barrier: &Choice) -> bool {
        self.shares() && barrier.decided_by == DecidedBy::Model
    }

    /// Whether ranks share hardware threads.
    fn shares(&self) -> bool {
        self.rank_pus.len() > self.here.unthrottled_parallelism()
    }

    /// The package of each rank; threads that are not pinned have none.
    fn packages(&self) -> Option<Vec<u32>> {
        let pus = &self.here.machine.pus;
        let package = |rank_pu: &u32| Some(pus.iter().find(|pu| pu.os_index == *rank_pu)?.package);
        let rank_pus = self.rank_pus.iter().filter(|_| self.pin);
        let packages: Vec<u32> = rank_pus.map(package).collect::<Option<_>>()?;
        (packages.len() == self.rank_pus.len()).then_some(packages)
    }
}

fn barrier_plan(choice: &Choice) -> Result<BarrierPlan, PlanError> {
    BarrierPlan::of_shape(&choice.chosen().shape).ok_or_else(|| unsuited(choice))
}

fn tree_plan(choice: &Choice) -> Result<Tree, PlanError> {
    let tree = choice.chosen().tree().cloned();
    tree.ok_or_else(|| unsuited(choice))
}

fn unsuited(choice: &Choice) -> PlanError {
    PlanError::Unsuited {
        pattern: choice.chosen().pattern,
        operation: choice.operation,
    }
}
