//! The plans of a team that goes on without some of its ranks: those of the team before, repaired.

use corecast_collectives::{BarrierPlan, Plans};
use corecast_model::CostModel;
use corecast_plan::{Operation, Pattern, Plan, Rounds, Shape};

use crate::waits::count;

/// A team that has lost ranks.
#[derive(Debug)]
pub(crate) struct Before<'a> {
    /// What ran.
    pub(crate) plans: &'a Plans,
    /// The patterns that they come from; none where another process has planned.
    pub(crate) patterns: &'a [(Operation, Pattern)],
    /// Costs of messages towards the root, and from it.
    pub(crate) costs: (&'a CostModel, &'a CostModel),
    /// The ranks that go on, in increasing order.
    pub(crate) staying: &'a [usize],
}

/// The plan of the team before without the ranks that it has lost.
pub(super) struct Repaired {
    pub(super) pattern: Pattern,
    pub(super) shape: Shape,
    /// What was done, in a sentence.
    pub(super) reason: String,
}

impl Before<'_> {
    /// The repaired plan; `None` where no repair can be.
    pub(super) fn repaired(&self, operation: Operation) -> Option<Repaired> {
        let shape = self.shape(operation)?;
        let pattern = self.pattern(operation, &shape)?;
        let costs = match operation {
            Operation::Reduce => self.costs.0,
            Operation::Broadcast | Operation::Barrier => self.costs.1,
        };
        let mut plan = Plan::to_repair(costs, pattern, operation, shape).ok()?;
        let mut left: Vec<usize> = (0..costs.n()).collect();
        let mut moved = 0;
        // From the last one on, so that the ranks of those still to go do not change.
        for rank in (0..costs.n()).rev() {
            if self.staying.binary_search(&rank).is_err() {
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
        Some(Repaired {
            pattern,
            shape: plan.shape,
            reason: format!("the plan of the team before, repaired without {lost}: {moves}"),
        })
    }

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
        let chosen = self.patterns.iter().find(|(of, _)| *of == operation);
        match (chosen, shape) {
            (Some((_, pattern)), _) => Some(*pattern),
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
