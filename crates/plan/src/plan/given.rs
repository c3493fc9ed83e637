//! Plans of which the caller gives the schedule or the lower bound.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::{Plan, PlanError, RootChoice, built_within};
use crate::groups::Grouped;
use crate::operation::Operation;
use crate::pace::Pace;
use crate::pattern::Pattern;
use crate::shape::Shape;
use crate::tree::Tree;

/// Plans without a search and with a bound that is known already, so that comparing many patterns computes the bound
/// once. `lower_bound` is [`groups::lower_bound`](crate::groups::lower_bound) of this operation and root, or a tighter
/// one that holds for the same trees. Plans of rounds have a bound of their own. Patterns that are searched for are constructed only.
///
/// `go_on` is called about every millisecond and may end it: patterns that look at all costs take seconds in teams of
/// thousands. The plan is `None` then; rounds are there, with a bound of 0. What takes less than that does not ask.
///
/// # Errors
///
/// The errors of [`plan()`](crate::plan()).
///
/// # Examples
///
/// ```
/// use std::ops::ControlFlow;
/// use corecast_plan::{Operation, Pattern, plan::plan_above_while};
///
/// let machine = corecast_model::synthetic("core:300 send=10 receive=30").unwrap();
/// let mut never = || ControlFlow::Break(());
/// let mut plan = |pattern| {
///     plan_above_while(machine.costs(), pattern, Operation::Broadcast, 0, 0.0, &mut never)
/// };
/// assert_eq!(plan(Pattern::Mst)?, None);
/// assert_eq!(plan(Pattern::Sequential)?.unwrap().latency, 3020.0);
/// # Ok::<(), corecast_plan::PlanError>(())
/// ```
pub fn plan_above_while(
    costs: &CostModel,
    pattern: Pattern,
    operation: Operation,
    root: usize,
    lower_bound: f64,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Option<Plan>, PlanError> {
    RootChoice::Rank(root).resolve(costs)?;
    let (proved, pace) = (Some(lower_bound), &mut Pace::patient(go_on));
    let built = built_within(costs, pattern, operation, root, proved, pace);
    built.continue_value().transpose()
}

impl Plan {
    /// The plan of a given tree, for example one that was read from a file or found by a search.
    ///
    /// `pattern` is the name that the plan gets.
    ///
    /// # Errors
    ///
    /// The tree has another number of members than the model.
    pub fn of_tree(
        costs: &CostModel,
        pattern: Pattern,
        operation: Operation,
        tree: Tree,
    ) -> Result<Self, PlanError> {
        let root = tree.root();
        Self::of_shape(costs, pattern, operation, root, Shape::Tree(tree), None)
    }

    /// Makes the plan of a barrier that goes in over one tree and out over another. Where the second is the first
    /// reversed, it is the plan of that one tree.
    ///
    /// # Errors
    ///
    /// The trees have different roots, or another number of members than the model.
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
        let shape = Shape::of_trees(fan_in, fan_out);
        Self::of_shape(costs, pattern, Operation::Barrier, root, shape, None)
    }

    /// Makes the plan of a given tree with groups. Where no line is shared, and for a reduction, whose lines are
    /// private in any case, it is the plan of the tree without groups.
    ///
    /// # Errors
    ///
    /// The tree has another number of members than the model, or shares lines whose costs the model lacks.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_plan::groups::Grouped;
    /// use corecast_plan::{Operation, Pattern, Plan};
    ///
    /// let machine = corecast_model::builtin("sandybridge-2x8").unwrap();
    /// let (costs, flat) = (machine.costs(), Grouped::flat(32, 0));
    /// let plan = Plan::of_groups(costs, Pattern::Best, Operation::Broadcast, flat.clone())?;
    /// assert_eq!((plan.latency, plan.proved_optimal), (164.0, true));
    /// assert_eq!((plan.groups(), plan.tree()), (Some(&flat), None));
    /// # Ok::<(), corecast_plan::PlanError>(())
    /// ```
    pub fn of_groups(
        costs: &CostModel,
        pattern: Pattern,
        operation: Operation,
        groups: Grouped,
    ) -> Result<Self, PlanError> {
        let root = groups.root();
        let shape = match operation {
            Operation::Reduce => Shape::Tree(groups.tree().clone()),
            Operation::Broadcast | Operation::Barrier => Shape::of_groups(groups),
        };
        Self::of_shape(costs, pattern, operation, root, shape, None)
    }
}
