//! The plan of a barrier: trees, rounds, groups or one line.

use super::error::PlansError;
use corecast_plan::groups::Grouped;
use corecast_plan::{Operation, Plan, Rounds, Shape, Tree};

/// The plan of a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BarrierPlan {
    /// A fan-in and a fan-out over trees. The fan-in takes children in list order.
    Trees {
        /// The tree towards the root.
        fan_in: Tree,
        /// The tree from the root.
        fan_out: Tree,
    },
    /// Rounds of notifications.
    Rounds(Rounds),
    /// A fan-in and a fan-out whose parents serve groups that share a line.
    Groups {
        /// The groups towards the root, which are taken in list order.
        fan_in: Grouped,
        /// The groups from the root.
        fan_out: Grouped,
    },
    /// One line for this number of ranks, see [`counter`](crate::barrier::counter).
    Counter(usize),
}

impl BarrierPlan {
    /// A barrier over one tree. The fan-in takes the children in reverse, see
    /// [`corecast_plan::cost`].
    pub fn of_tree(tree: &Tree) -> Self {
        Self::Trees {
            fan_in: tree.reversed(),
            fan_out: tree.clone(),
        }
    }

    /// Number of ranks.
    #[expect(
        clippy::len_without_is_empty,
        reason = "a team has at least one member"
    )]
    pub fn len(&self) -> usize {
        match self {
            Self::Trees { fan_out, .. } => fan_out.len(),
            Self::Rounds(rounds) => rounds.len(),
            Self::Groups { fan_out, .. } => fan_out.len(),
            Self::Counter(ranks) => *ranks,
        }
    }

    /// The barrier of a plan for [`Operation::Barrier`].
    ///
    /// # Errors
    ///
    /// [`PlansError::Operation`] for a plan of another operation, [`PlansError::Shape`] for a shape
    /// that no barrier has.
    pub fn of_plan(plan: &Plan) -> Result<Self, PlansError> {
        if plan.operation != Operation::Barrier {
            return Err(PlansError::Operation {
                expected: Operation::Barrier,
                found: plan.operation,
            });
        }
        Self::of_shape(&plan.shape).ok_or(PlansError::Shape)
    }

    /// The barrier of a plan with this shape; `None` for a shape that no barrier has.
    pub fn of_shape(shape: &Shape) -> Option<Self> {
        match shape {
            Shape::Tree(tree) => Some(Self::of_tree(tree)),
            Shape::Trees { fan_in, fan_out } => Some(Self::Trees {
                fan_in: fan_in.clone(),
                fan_out: fan_out.clone(),
            }),
            Shape::Rounds(rounds) => Some(Self::Rounds(rounds.clone())),
            Shape::Groups(groups) => Some(Self::Groups {
                fan_in: reversed(groups),
                fan_out: groups.clone(),
            }),
            Shape::GroupedTrees { fan_in, fan_out } => Some(Self::Groups {
                fan_in: fan_in.clone(),
                fan_out: fan_out.clone(),
            }),
            _ => None,
        }
    }
}

/// The groups in reverse order, for a fan-in: see [`corecast_plan::cost`].
fn reversed(groups: &Grouped) -> Grouped {
    let mut lists = groups.group_lists().to_vec();
    lists.iter_mut().for_each(|list| list.reverse());
    Grouped::from_groups(groups.root(), lists).expect("another order of the same groups")
}
