//! [`Candidate`]: a schedule that can run, with its predicted latency.

use std::time::Duration;

use corecast_model::CostModel;
use corecast_plan::{Operation, Pattern, Plan, PlanError, RootChoice, Shape, Tree, plan};

/// The name, in races and profiles, of a barrier that uses the fan-out tree of `best` for its fan-in
/// too. By the model two trees are better, but the hardware may be faster with fewer lines.
pub const ONE_TREE: &str = "best-one-tree";

/// A schedule that can run.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The pattern that it comes from.
    pub pattern: Pattern,
    /// The root of its tree. Rounds have none; for them it is the team's root.
    pub root: usize,
    /// The schedule.
    pub shape: Shape,
    /// Predicted latency, in the model's unit.
    pub latency: f64,
    /// The time that the search for it took.
    pub search: Duration,
}

impl Candidate {
    /// The tree, if the schedule is a single one.
    pub fn tree(&self) -> Option<&Tree> {
        match &self.shape {
            Shape::Tree(tree) => Some(tree),
            _ => None,
        }
    }

    /// Whether it has a root: schedules of rounds have none.
    pub fn has_root(&self) -> bool {
        !matches!(self.shape, Shape::Rounds(_))
    }

    /// Makes a plan of `operation` from this schedule, with its lower bound and gap, which take
    /// longer to find than the schedule.
    ///
    /// # Errors
    ///
    /// [`PlanError`] for costs of another team, or for an operation that the schedule cannot do.
    pub fn plan(&self, costs: &CostModel, operation: Operation) -> Result<Plan, PlanError> {
        match &self.shape {
            Shape::Tree(tree) => Plan::of_tree(costs, self.pattern, operation, tree.clone()),
            Shape::Trees { fan_in, fan_out } if operation == Operation::Barrier => {
                Plan::of_trees(costs, self.pattern, fan_in.clone(), fan_out.clone())
            }
            Shape::Trees { .. } => Err(PlanError::Unsuited {
                pattern: self.pattern,
                operation,
            }),
            // The other shapes are rounds; groups are not chosen.
            _ => plan(costs, self.pattern, operation, RootChoice::Rank(self.root)),
        }
    }
}
