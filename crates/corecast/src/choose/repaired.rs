//! The plans of a team that goes on without some of its ranks: those of the team before, repaired.

use std::time::Instant;

use corecast_collectives::{BarrierPlan, Plans};
use corecast_model::CostModel;
use corecast_plan::{Operation, Pattern, Plan, Rounds, Shape};

use super::{Choice, Chooser, DecidedBy, Settled};
use crate::waits::count;

/// A team that has lost ranks.
pub(crate) struct Before<'a> {
    /// What ran.
    pub(crate) plans: &'a Plans,
    /// The decisions about them; none where another process has planned.
    pub(crate) choices: &'a [Choice],
    /// Costs of messages towards the root, and from it.
    pub(crate) costs: (&'a CostModel, &'a CostModel),
    /// The ranks that go on, in increasing order.
    pub(crate) staying: &'a [usize],
}

impl Chooser<'_> {
    /// Chooses for a team of the ranks of `before` that stay. What was asked for decides, then a race of exactly these
    /// threads. Else the plan of the team before is repaired, or made anew where no repair can be.
    pub(crate) fn repaired(
        &self,
        operation: Operation,
        before: &Before<'_>,
    ) -> Result<Choice, corecast_plan::PlanError> {
        let mut aside = Vec::new();
        let decided = match self.by_wish(operation, &mut aside)? {
            Some(wished) => Some(wished),
            None => self
                .by_race(operation, &mut aside)
                .or_else(|| self.by_repair(operation, before)),
        };
        match decided {
            Some(settled) => Ok(settled.choice(operation, aside)),
            None => self.choose(operation),
        }
    }

    fn by_repair(&self, operation: Operation, before: &Before<'_>) -> Option<Settled> {
        let begin = Instant::now();
        let shape = before.shape(operation)?;
        let pattern = before.pattern(operation, &shape)?;
        let costs = match operation {
            Operation::Reduce => before.costs.0,
            Operation::Broadcast | Operation::Barrier => before.costs.1,
        };
        let mut plan = Plan::to_repair(costs, pattern, operation, shape).ok()?;
        let mut left: Vec<usize> = (0..costs.n()).collect();
        let mut moved = 0;
        // From the last one on, so that the ranks of those still to go do not change.
        for rank in (0..costs.n()).rev() {
            if before.staying.binary_search(&rank).is_err() {
                left.remove(rank);
                let repair = plan.without(&costs.subset(&left).ok()?, rank).ok()?;
                moved += repair.moved.len();
                plan = repair.plan;
            }
        }
        let lost = count(costs.n() - left.len(), "rank");
        let moves = match plan.shape {
            Shape::Rounds(_) => "all lines are new".to_owned(),
            _ => format!("{} of a member to another parent", count(moved, "move")),
        };
        let candidate = self
            .drafts
            .candidate(pattern, operation, plan.shape, begin.elapsed());
        Some(Settled {
            candidates: vec![candidate],
            by: DecidedBy::Repair,
            reason: format!("the plan of the team before, repaired without {lost}: {moves}"),
        })
    }
}

impl Before<'_> {
    /// The schedule that ran; `None` for one that cannot be repaired: of a line that ranks share.
    fn shape(&self, operation: Operation) -> Option<Shape> {
        match operation {
            Operation::Broadcast if self.plans.broadcast_groups().is_some() => None,
            Operation::Broadcast => Some(Shape::Tree(self.plans.broadcast().clone())),
            Operation::Reduce => Some(Shape::Tree(self.plans.reduce().clone())),
            Operation::Barrier => match self.plans.barrier() {
                BarrierPlan::Trees { fan_in, fan_out } if *fan_in == fan_out.reversed() => {
                    Some(Shape::Tree(fan_out.clone()))
                }
                BarrierPlan::Trees { fan_in, fan_out } => Some(Shape::Trees {
                    fan_in: fan_in.clone(),
                    fan_out: fan_out.clone(),
                }),
                BarrierPlan::Rounds(rounds) => Some(Shape::Rounds(rounds.clone())),
                BarrierPlan::Groups { .. } | BarrierPlan::Counter(_) => None,
            },
        }
    }

    /// The pattern of the schedule that ran. Where another process has chosen it, trees count as the best that were found,
    /// and rounds tell theirs.
    fn pattern(&self, operation: Operation, shape: &Shape) -> Option<Pattern> {
        let chosen = self
            .choices
            .iter()
            .find(|choice| choice.operation == operation);
        match (chosen, shape) {
            (Some(choice), _) => Some(choice.chosen().pattern),
            (None, Shape::Rounds(rounds)) => dissemination(rounds),
            (None, _) => Some(Pattern::Best),
        }
    }
}

/// The dissemination that these rounds are.
fn dissemination(rounds: &Rounds) -> Option<Pattern> {
    let of = |radix| Pattern::Dissemination { radix };
    (2..=rounds.len().max(2))
        .map(of)
        .find(|pattern| pattern.rounds(rounds.len()).as_ref() == Some(rounds))
}
