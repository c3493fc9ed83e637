//! A schedule that can run.

use std::time::Duration;

use corecast_model::CostModel;
use corecast_plan::{Operation, Pattern, Plan, PlanError, RootChoice, Shape, Tree, plan};

/// What a barrier that goes both ways over the way out of `best` is called in races and profiles. By
/// the model two trees are better; the hardware may like fewer lines.
pub const ONE_TREE: &str = "best-one-tree";

/// A schedule that can run.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The family that it comes from.
    pub pattern: Pattern,
    /// Where its tree starts; rounds have no root, there it is what was asked for.
    pub root: usize,
    /// The schedule.
    pub shape: Shape,
    /// Predicted latency, in the model's unit.
    pub latency: f64,
    /// Time for finding it.
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

    /// The same as a plan of `operation`, with its bound and gap, which take longer to find than
    /// the schedule.
    ///
    /// # Errors
    ///
    /// Costs of another team, or another operation than it was chosen for.
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
            // Rounds; groups are not chosen.
            _ => plan(costs, self.pattern, operation, RootChoice::Rank(self.root)),
        }
    }
}
