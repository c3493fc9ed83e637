//! The parts of a plan: its trees, groups or rounds, and the busy times of its members.

use corecast_model::CostModel;

use super::Plan;
use crate::cost::{self, Timeline};
use crate::groups::{self, Grouped};
use crate::operation::Operation;
use crate::rounds::Rounds;
use crate::shape::Shape;
use crate::tree::Tree;

impl Plan {
    /// The tree, if the plan is a single one whose members share no lines.
    #[must_use]
    pub fn tree(&self) -> Option<&Tree> {
        match &self.shape {
            Shape::Tree(tree) => Some(tree),
            _ => None,
        }
    }

    /// Returns the tree by which messages leave the root; `None` for rounds and where members share lines.
    #[must_use]
    pub fn outward(&self) -> Option<&Tree> {
        match (&self.shape, self.operation) {
            (Shape::Tree(tree), Operation::Broadcast | Operation::Barrier) => Some(tree),
            (Shape::Trees { fan_out, .. }, _) => Some(fan_out),
            _ => None,
        }
    }

    /// The tree with groups, if the plan is a single one.
    #[must_use]
    pub fn groups(&self) -> Option<&Grouped> {
        match &self.shape {
            Shape::Groups(groups) => Some(groups),
            _ => None,
        }
    }

    /// The trees of a barrier that goes in over one and out over another, where members share lines.
    #[must_use]
    pub fn two_grouped(&self) -> Option<(&Grouped, &Grouped)> {
        match &self.shape {
            Shape::GroupedTrees { fan_in, fan_out } => Some((fan_in, fan_out)),
            _ => None,
        }
    }

    /// The trees of a barrier that goes in over one and out over another.
    #[must_use]
    pub fn two_trees(&self) -> Option<(&Tree, &Tree)> {
        match &self.shape {
            Shape::Trees { fan_in, fan_out } => Some((fan_in, fan_out)),
            _ => None,
        }
    }

    /// Returns the busy times of all members; `None` for rounds, whose members wait for several others at once.
    ///
    /// # Panics
    ///
    /// When `costs` are those of another team.
    #[must_use]
    pub fn timeline(&self, costs: &CostModel) -> Option<Timeline> {
        match &self.shape {
            Shape::Tree(tree) => Some(cost::timeline(costs, tree, self.operation)),
            Shape::Trees { fan_in, fan_out } => {
                Some(cost::two_trees_timeline(costs, fan_in, fan_out))
            }
            Shape::Groups(grouped) => Some(groups::timeline(costs, grouped, self.operation)),
            Shape::GroupedTrees { fan_in, fan_out } => {
                Some(groups::two_ways_timeline(costs, fan_in, fan_out))
            }
            Shape::Rounds(_) => None,
        }
    }

    /// The rounds, unless the plan is a tree.
    #[must_use]
    pub fn rounds(&self) -> Option<&Rounds> {
        match &self.shape {
            Shape::Rounds(rounds) => Some(rounds),
            _ => None,
        }
    }
}
