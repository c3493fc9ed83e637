//! The shape of a plan: trees, trees whose members share lines, or rounds.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use crate::bound;
use crate::cost;
use crate::groups::{self, Grouped};
use crate::operation::Operation;
use crate::pace::{self, Pace};
use crate::rounds::Rounds;
use crate::tree::Tree;

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
    /// One tree in which some members share a line with their parent, see [`crate::groups`]. Lists
    /// of groups are in the order of [`Shape::Tree`]'s lists.
    Groups(Grouped),
    /// A barrier's two trees with one root, where members share lines in one of them or in both.
    GroupedTrees {
        /// Towards the root; groups are taken in list order.
        fan_in: Grouped,
        /// From the root.
        fan_out: Grouped,
    },
    /// Rounds of notifications.
    Rounds(Rounds),
}

impl Shape {
    /// Makes the shape of a barrier's trees: one tree where they are the same.
    pub(crate) fn of_trees(fan_in: Tree, fan_out: Tree) -> Self {
        if fan_in == fan_out.reversed() {
            Self::Tree(fan_out)
        } else {
            Self::Trees { fan_in, fan_out }
        }
    }

    /// Makes the shape of a tree with groups: a plain tree where no line is shared.
    pub(crate) fn of_groups(groups: Grouped) -> Self {
        groups.to_tree().map_or(Self::Groups(groups), Self::Tree)
    }

    /// Makes the shape of a barrier's trees with groups: plain trees where no line is shared in
    /// either.
    pub(crate) fn of_grouped_trees(fan_in: Grouped, fan_out: Grouped) -> Self {
        match (fan_in.to_tree(), fan_out.to_tree()) {
            (Some(fan_in), Some(fan_out)) => Self::of_trees(fan_in, fan_out),
            _ => Self::GroupedTrees { fan_in, fan_out },
        }
    }

    /// Whether members share lines.
    pub(crate) fn shares_lines(&self) -> bool {
        match self {
            Self::Groups(groups) => groups.shares_lines(),
            Self::GroupedTrees { fan_in, fan_out } => {
                fan_in.shares_lines() || fan_out.shares_lines()
            }
            Self::Tree(_) | Self::Trees { .. } | Self::Rounds(_) => false,
        }
    }

    /// Returns the latency, in the model's unit.
    ///
    /// # Panics
    ///
    /// When it is for another team, or shares lines whose costs the model does not have.
    pub(crate) fn latency(&self, costs: &CostModel, operation: Operation) -> f64 {
        match self {
            Self::Tree(tree) => cost::latency(costs, tree, operation),
            Self::Trees { fan_in, fan_out } => cost::two_trees(costs, fan_in, fan_out),
            Self::Groups(groups) => groups::latency(costs, groups, operation),
            Self::GroupedTrees { fan_in, fan_out } => groups::two_ways(costs, fan_in, fan_out),
            Self::Rounds(rounds) => rounds.latency(costs),
        }
    }

    /// Returns a latency that no schedule of [`Space::of`](crate::plan::Space) this shape beats; trees
    /// have this root.
    pub(crate) fn lower_bound(&self, costs: &CostModel, operation: Operation, root: usize) -> f64 {
        pace::unwatched(|pace| self.lower_bound_within(costs, operation, root, pace))
    }

    /// Returns [`lower_bound`](Self::lower_bound), unless a watcher ends the search.
    pub(crate) fn lower_bound_within(
        &self,
        costs: &CostModel,
        operation: Operation,
        root: usize,
        pace: &mut Pace<'_>,
    ) -> ControlFlow<(), f64> {
        let Self::Rounds(_) = self else {
            return groups::lower_bound_within(costs, operation, Some(root), pace);
        };
        let rounds = bound::any_barrier_within(costs, pace)?;
        ControlFlow::Continue(match costs.lines() {
            None => rounds,
            Some(_) => rounds.min(groups::lower_bound_within(costs, operation, None, pace)?),
        })
    }

    /// Returns the rank at which it starts or ends; `None` for rounds.
    pub(crate) fn root(&self) -> Option<usize> {
        match self {
            Self::Tree(tree) => Some(tree.root()),
            Self::Trees { fan_out, .. } => Some(fan_out.root()),
            Self::Groups(groups) => Some(groups.root()),
            Self::GroupedTrees { fan_out, .. } => Some(fan_out.root()),
            Self::Rounds(_) => None,
        }
    }

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
            Self::Groups(groups) => groups.len(),
            Self::GroupedTrees { fan_out, .. } => fan_out.len(),
            Self::Rounds(rounds) => rounds.len(),
        }
    }
}
