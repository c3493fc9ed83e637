//! From a pattern to a plan: a validated, costed schedule with a certified gap.

use corecast_model::CostModel;

use crate::bound;
use crate::cost::{self, Timeline};
use crate::operation::Operation;
use crate::pattern::Pattern;
use crate::rounds::Rounds;
use crate::smelt;
use crate::tree::Tree;

/// Where a tree starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RootChoice {
    /// Smelt's choice, the least mean send cost ([`smelt::root`]), for every operation: an
    /// application that broadcasts and reduces wants one root.
    #[default]
    Auto,
    /// This rank.
    Rank(usize),
}

/// A schedule that a team can run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// One tree. Lists are in the order in which each operation serves or takes children, see
    /// [`crate::cost`].
    Tree(Tree),
    /// A barrier's two trees with one root, where each way has its own.
    Trees {
        /// Towards the root; children are taken in list order, as in a reduction.
        fan_in: Tree,
        /// From the root.
        fan_out: Tree,
    },
    /// Rounds of notifications.
    Rounds(Rounds),
}

/// A concrete, validated schedule of one operation for one team, and how good it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The family that it comes from.
    pub pattern: Pattern,
    /// What it does.
    pub operation: Operation,
    /// Where it starts or ends. Rounds have no root; there it is the rank that was asked for.
    pub root: usize,
    /// The schedule.
    pub shape: Shape,
    /// Predicted latency, in the model's unit.
    pub latency: f64,
    /// No schedule can be faster than this, in the model's unit: for trees none with the same root
    /// (a barrier may even use a tree for each direction), for rounds none at all.
    pub lower_bound: f64,
    /// `(latency − lower_bound) / latency`, from 0 to 1: the share of the latency that a better
    /// schedule could save at most.
    pub gap: f64,
    /// Whether the latency equals the bound.
    pub proved_optimal: bool,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The root is no member.
    #[error("root {root} is outside of the team, whose ranks are 0 to {last}")]
    RootOutside {
        /// The root asked for.
        root: usize,
        /// The last rank.
        last: usize,
    },
    /// A pattern that cannot do this operation.
    #[error("pattern \"{pattern}\" cannot {operation}: it has no root; use it for a barrier")]
    Unsuited {
        /// The pattern.
        pattern: Pattern,
        /// The operation.
        operation: Operation,
    },
    /// A radix that no tree or schedule can have.
    #[error("pattern \"{pattern}\" needs a radix of at least 2")]
    Radix {
        /// The pattern.
        pattern: Pattern,
    },
    /// The two trees of a barrier must meet.
    #[error("the fan-in ends at rank {fan_in}, the fan-out starts at rank {fan_out}")]
    Roots {
        /// Root of the fan-in.
        fan_in: usize,
        /// Root of the fan-out.
        fan_out: usize,
    },
    /// A schedule for another team.
    #[error("the schedule has {found} members, the cost model {expected}")]
    TeamSize {
        /// Members of the schedule.
        found: usize,
        /// Members of the cost model.
        expected: usize,
    },
}

/// The plan of a pattern.
///
/// A reduction is planned as a broadcast with the roles of send and receive swapped
/// ([`CostModel::mirrored`]) and lists reversed, so that each pattern sees the costs that matter to
/// it and children are taken in the order in which they arrive. A barrier uses the broadcast tree
/// in both directions, as Smelt does (§4).
///
/// # Errors
///
/// A root outside of the team; a pattern of rounds for anything but a barrier; a radix below 2.
///
/// # Cost
///
/// That of the pattern and of [`bound::lower_bound`].
pub fn plan(
    costs: &CostModel,
    pattern: Pattern,
    operation: Operation,
    root: RootChoice,
) -> Result<Plan, PlanError> {
    let last = costs.n() - 1;
    let root = match root {
        RootChoice::Auto => smelt::root(costs),
        RootChoice::Rank(root) if root > last => return Err(PlanError::RootOutside { root, last }),
        RootChoice::Rank(root) => root,
    };
    if pattern.radix().is_some_and(|radix| radix < 2) {
        return Err(PlanError::Radix { pattern });
    }
    let tree = match operation {
        Operation::Reduce => pattern
            .tree(&costs.mirrored(), root)
            .map(|tree| tree.reversed()),
        Operation::Broadcast | Operation::Barrier => pattern.tree(costs, root),
    };
    let shape = match (tree, operation) {
        (Some(tree), _) => Shape::Tree(tree),
        (None, Operation::Barrier) => match pattern.rounds(costs.n()) {
            Some(rounds) => Shape::Rounds(rounds),
            None => return Err(PlanError::Unsuited { pattern, operation }),
        },
        (None, _) => return Err(PlanError::Unsuited { pattern, operation }),
    };
    Plan::of_shape(costs, pattern, operation, root, shape)
}

impl Plan {
    /// The plan of a given tree, for example one that was read from a file or found by a search.
    ///
    /// `pattern` is what the tree is to be called.
    ///
    /// # Errors
    ///
    /// A tree with another number of members than the model.
    pub fn of_tree(
        costs: &CostModel,
        pattern: Pattern,
        operation: Operation,
        tree: Tree,
    ) -> Result<Self, PlanError> {
        let root = tree.root();
        Self::of_shape(costs, pattern, operation, root, Shape::Tree(tree))
    }

    fn of_shape(
        costs: &CostModel,
        pattern: Pattern,
        operation: Operation,
        root: usize,
        shape: Shape,
    ) -> Result<Self, PlanError> {
        let (found, expected) = (shape.len(), costs.n());
        if found != expected {
            return Err(PlanError::TeamSize { found, expected });
        }
        let (latency, lower_bound) = match &shape {
            Shape::Tree(tree) => (
                cost::latency(costs, tree, operation),
                bound::lower_bound(costs, operation, Some(root)),
            ),
            Shape::Trees { fan_in, fan_out } => (
                cost::two_trees(costs, fan_in, fan_out),
                bound::lower_bound(costs, operation, Some(root)),
            ),
            Shape::Rounds(rounds) => (rounds.latency(costs), bound::any_barrier(costs)),
        };
        // Sums taken in another order differ in their last bits.
        let proved_optimal = latency <= lower_bound * (1.0 + 1e-12);
        let lower_bound = lower_bound.min(latency);
        let gap = if latency > 0.0 {
            (latency - lower_bound) / latency
        } else {
            0.0
        };
        Ok(Self {
            pattern,
            operation,
            root,
            shape,
            latency,
            lower_bound,
            gap,
            proved_optimal,
        })
    }

    /// The plan of a barrier that goes in over one tree and out over another. Where the second is
    /// the first reversed, it is the plan of that one tree.
    ///
    /// # Errors
    ///
    /// Trees with different roots, or with another number of members than the model.
    pub fn of_trees(
        costs: &CostModel,
        pattern: Pattern,
        fan_in: Tree,
        fan_out: Tree,
    ) -> Result<Self, PlanError> {
        let root = fan_out.root();
        if fan_in.root() != root {
            return Err(PlanError::Roots {
                fan_in: fan_in.root(),
                fan_out: root,
            });
        }
        if fan_in.len() != fan_out.len() {
            return Err(PlanError::TeamSize {
                found: fan_in.len(),
                expected: fan_out.len(),
            });
        }
        let shape = if fan_in == fan_out.reversed() {
            Shape::Tree(fan_out)
        } else {
            Shape::Trees { fan_in, fan_out }
        };
        Self::of_shape(costs, pattern, Operation::Barrier, root, shape)
    }

    /// The tree, if the plan is a single one.
    #[must_use]
    pub fn tree(&self) -> Option<&Tree> {
        match &self.shape {
            Shape::Tree(tree) => Some(tree),
            _ => None,
        }
    }

    /// The tree that messages leave the root by, unless the plan has none.
    #[must_use]
    pub fn outward(&self) -> Option<&Tree> {
        match (&self.shape, self.operation) {
            (Shape::Tree(tree), Operation::Broadcast | Operation::Barrier) => Some(tree),
            (Shape::Trees { fan_out, .. }, _) => Some(fan_out),
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

    /// Who is blocked when; `None` for rounds, whose members wait for several others at once.
    ///
    /// # Panics
    ///
    /// When `costs` are of another team.
    #[must_use]
    pub fn timeline(&self, costs: &CostModel) -> Option<Timeline> {
        match &self.shape {
            Shape::Tree(tree) => Some(cost::timeline(costs, tree, self.operation)),
            Shape::Trees { fan_in, fan_out } => {
                Some(cost::two_trees_timeline(costs, fan_in, fan_out))
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

impl Shape {
    /// Number of members.
    #[must_use]
    #[expect(
        clippy::len_without_is_empty,
        reason = "a team has at least one member"
    )]
    pub fn len(&self) -> usize {
        match self {
            Self::Tree(tree) => tree.len(),
            Self::Trees { fan_out, .. } => fan_out.len(),
            Self::Rounds(rounds) => rounds.len(),
        }
    }
}
