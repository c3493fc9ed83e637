//! Which plan each operation of a team runs over.

use corecast_model::CostModel;
use corecast_plan::{Operation, Pattern, Plan, PlanError, RootChoice, Rounds, Shape, Tree, plan};

/// What a barrier runs over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BarrierPlan {
    /// A way in and a way out. Children of the first are taken in list order.
    Trees {
        /// Towards the root.
        fan_in: Tree,
        /// From the root.
        fan_out: Tree,
    },
    /// Rounds of notifications.
    Rounds(Rounds),
}

impl BarrierPlan {
    /// One tree for both ways; the way in takes the children in reverse, see [`corecast_plan::cost`].
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
        }
    }

    /// What a plan of [`Operation::Barrier`] says.
    ///
    /// # Errors
    ///
    /// A plan of another operation, or with groups that share lines.
    pub fn of_plan(plan: &Plan) -> Result<Self, PlansError> {
        if plan.operation != Operation::Barrier {
            return Err(PlansError::Operation {
                expected: Operation::Barrier,
                found: plan.operation,
            });
        }
        Self::of_shape(&plan.shape).ok_or(PlansError::Groups)
    }

    /// What a barrier of this shape runs over; `None` for a shape that collectives cannot run, such as
    /// groups that share lines.
    pub fn of_shape(shape: &Shape) -> Option<Self> {
        match shape {
            Shape::Tree(tree) => Some(Self::of_tree(tree)),
            Shape::Trees { fan_in, fan_out } => Some(Self::Trees {
                fan_in: fan_in.clone(),
                fan_out: fan_out.clone(),
            }),
            Shape::Rounds(rounds) => Some(Self::Rounds(rounds.clone())),
            _ => None,
        }
    }
}

/// The plans of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plans {
    barrier: BarrierPlan,
    broadcast: Tree,
    reduce: Tree,
}

/// Why plans do not make a team.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlansError {
    /// The planner refused.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A plan was given for another operation.
    #[error("a plan to {found} was given where one to {expected} is needed")]
    Operation {
        /// What is needed.
        expected: Operation,
        /// What was given.
        found: Operation,
    },
    /// A plan whose members share lines.
    #[error("the plan has groups that share lines: plan with costs without lines")]
    Groups,
    /// Plans for different teams.
    #[error(
        "the plans are for teams of different sizes: barrier {barrier}, broadcast {broadcast}, reduce {reduce}"
    )]
    Sizes {
        /// Ranks of the barrier's plan.
        barrier: usize,
        /// Ranks of the broadcast's.
        broadcast: usize,
        /// Ranks of the reduction's.
        reduce: usize,
    },
}

impl Plans {
    /// A plan for each operation. Children of `reduce` are taken in list order.
    ///
    /// # Errors
    ///
    /// [`PlansError::Sizes`].
    pub fn new(barrier: BarrierPlan, broadcast: Tree, reduce: Tree) -> Result<Self, PlansError> {
        let sizes = (barrier.len(), broadcast.len(), reduce.len());
        if sizes.0 != sizes.1 || sizes.1 != sizes.2 {
            let (barrier, broadcast, reduce) = sizes;
            return Err(PlansError::Sizes {
                barrier,
                broadcast,
                reduce,
            });
        }
        Ok(Self {
            barrier,
            broadcast,
            reduce,
        })
    }

    /// Everything over one tree.
    pub fn of_tree(tree: &Tree) -> Self {
        Self {
            barrier: BarrierPlan::of_tree(tree),
            broadcast: tree.clone(),
            reduce: tree.reversed(),
        }
    }

    /// Everything by one pattern. A pattern of rounds serves the barrier, and Smelt's tree the rest.
    /// Without a root broadcasts and reductions share Smelt's; a barrier that is searched for has
    /// its own.
    ///
    /// Costs of shared lines are not looked at ([`CostModel::without_lines`]): with them a search may
    /// find groups, and each line here has one reader.
    ///
    /// # Errors
    ///
    /// A root outside of the team, or a radix below 2.
    pub fn of_pattern(
        costs: &CostModel,
        pattern: Pattern,
        root: Option<usize>,
    ) -> Result<Self, PlansError> {
        let costs = &*costs.without_lines();
        let root_or = |choice| root.map_or(choice, RootChoice::Rank);
        let tree_pattern = match pattern.rounds(2) {
            Some(_) => Pattern::Smelt,
            None => pattern,
        };
        let tree = |operation| -> Result<Tree, PlansError> {
            let plan = plan(costs, tree_pattern, operation, root_or(RootChoice::Smelt))?;
            Ok(plan.tree().expect("a pattern of trees").clone())
        };
        let barrier = plan(
            costs,
            pattern,
            Operation::Barrier,
            root_or(RootChoice::Auto),
        )?;
        let barrier = BarrierPlan::of_plan(&barrier)?;
        Self::new(
            barrier,
            tree(Operation::Broadcast)?,
            tree(Operation::Reduce)?,
        )
    }

    /// The same with another barrier.
    ///
    /// # Errors
    ///
    /// [`PlansError::Sizes`].
    pub fn with_barrier(self, barrier: BarrierPlan) -> Result<Self, PlansError> {
        Self::new(barrier, self.broadcast, self.reduce)
    }

    /// Number of ranks.
    #[expect(
        clippy::len_without_is_empty,
        reason = "a team has at least one member"
    )]
    pub fn len(&self) -> usize {
        self.broadcast.len()
    }

    /// The barrier's plan.
    pub fn barrier(&self) -> &BarrierPlan {
        &self.barrier
    }

    /// The broadcast's tree.
    pub fn broadcast(&self) -> &Tree {
        &self.broadcast
    }

    /// The reduction's tree.
    pub fn reduce(&self) -> &Tree {
        &self.reduce
    }

    /// All pairs of ranks that some operation joins, each once, the smaller rank first.
    pub(crate) fn edges(&self) -> Vec<(usize, usize)> {
        let mut edges = Vec::new();
        let mut add = |a: usize, b: usize| edges.push((a.min(b), a.max(b)));
        let mut trees = vec![&self.broadcast, &self.reduce];
        match &self.barrier {
            BarrierPlan::Trees { fan_in, fan_out } => trees.extend([fan_in, fan_out]),
            BarrierPlan::Rounds(rounds) => {
                for round in 0..rounds.count() {
                    for rank in 0..rounds.len() {
                        for &target in rounds.targets(round, rank) {
                            add(rank, target);
                        }
                    }
                }
            }
        }
        for tree in trees {
            for rank in 0..tree.len() {
                for &child in tree.children(rank) {
                    add(rank, child);
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Costs that know of shared lines, over which flat groups are best.
    #[test]
    fn plans_share_no_lines() {
        let words = "package:2 core:3 send=10,20 receive=30,60 write=5 transfer=2,4";
        let file = corecast_model::synthetic(words).unwrap();
        let costs = file.costs();
        let grouped = plan(costs, Pattern::Best, Operation::Barrier, RootChoice::Auto).unwrap();
        assert!(grouped.two_grouped().is_some());
        assert_eq!(BarrierPlan::of_shape(&grouped.shape), None);
        assert_eq!(BarrierPlan::of_plan(&grouped), Err(PlansError::Groups));
        for pattern in [Pattern::Best, Pattern::Optimal, Pattern::Smelt] {
            for root in [None, Some(4)] {
                let plans = Plans::of_pattern(costs, pattern, root).unwrap();
                let bare = Plans::of_pattern(&costs.without_lines(), pattern, root).unwrap();
                assert_eq!(plans, bare);
                assert!(matches!(plans.barrier(), BarrierPlan::Trees { .. }));
            }
        }
    }
}
