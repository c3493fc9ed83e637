//! From a pattern to a plan: a validated, costed schedule with a certified gap.

mod error;
mod given;
mod parts;
mod scope;

pub use error::PlanError;
pub use given::plan_above_while;
pub use scope::{Scope, Space, room};

use std::ops::ControlFlow;

use corecast_model::CostModel;

use crate::best;
use crate::bound::{self, PROVED};
use crate::operation::Operation;
use crate::pace::{self, Pace};
use crate::pattern::Pattern;
use crate::progress::{Progress, Watch};
use crate::search::Effort;
use crate::smelt;

pub use crate::shape::Shape;

/// The choice of the rank at which a tree starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RootChoice {
    /// The pattern's own choice: [`Pattern::Best`] and [`Pattern::Optimal`] look for the root as
    /// well, for all others it is [`RootChoice::Smelt`].
    #[default]
    Auto,
    /// Smelt's choice, the least mean send cost ([`smelt::root`]), for every operation: an
    /// application that broadcasts and reduces wants one root.
    Smelt,
    /// This rank.
    Rank(usize),
}

/// A concrete, validated schedule of one operation for one team, with its latency and a lower bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The pattern that the schedule was made by.
    pub pattern: Pattern,
    /// The operation that it performs.
    pub operation: Operation,
    /// The rank at which the operation starts or ends. Rounds have no root; for them it is the rank that was asked
    /// for.
    pub root: usize,
    /// The schedule.
    pub shape: Shape,
    /// Predicted latency, in the model's unit.
    pub latency: f64,
    /// A latency that no schedule of `scope` beats, in the model's unit.
    pub lower_bound: f64,
    /// The schedules that the bound holds for. For a tree these are all trees with the same root, or with any root where
    /// that was left to a search; a barrier may even use a tree for each direction. For rounds they are barriers of any
    /// shape.
    ///
    /// Where the cost model has costs of shared lines ([`CostModel::lines`]), broadcasts and barriers may be trees with
    /// groups, and the bound of every plan holds for these too, whatever its pattern. Only [`Plan::without`] and
    /// [`Plan::with`] leave groups out.
    pub scope: Scope,
    /// `(latency − lower_bound) / latency`, from 0 to 1: the share of the latency that a better
    /// schedule of `scope` could save at most.
    pub gap: f64,
    /// Whether no schedule of `scope` is faster: latency and bound are equal to one part in ten million, which is less
    /// than what costs are measured to.
    pub proved_optimal: bool,
}

impl RootChoice {
    /// Returns the rank that is meant: Smelt's root, unless one is given.
    ///
    /// # Errors
    ///
    /// A rank outside of the team.
    pub fn resolve(self, costs: &CostModel) -> Result<usize, PlanError> {
        let last = costs.n() - 1;
        match self {
            Self::Auto | Self::Smelt => Ok(smelt::root(costs)),
            Self::Rank(root) if root > last => Err(PlanError::RootOutside { root, last }),
            Self::Rank(root) => Ok(root),
        }
    }
}

/// Plans an operation by a pattern.
///
/// A reduction is planned as a broadcast with the roles of send and receive swapped
/// ([`CostModel::mirrored`]) and lists reversed, so that each pattern sees the costs that matter to
/// it and children are taken in the order in which they arrive. A barrier uses the broadcast tree
/// in both directions, as Smelt does (§4); [`Pattern::Best`] and [`Pattern::Optimal`] plan each
/// direction by itself. Where costs say what shared lines cost ([`CostModel::lines`]) these two
/// also look for groups, in broadcasts and barriers; their plans then have no [`Plan::tree`] where
/// groups are faster. A caller that needs a tree plans with [`CostModel::without_lines`].
///
/// # Errors
///
/// A root outside of the team; a pattern of rounds for anything but a barrier; a radix below 2.
///
/// # Cost
///
/// That of the pattern and of [`groups::lower_bound`](crate::groups::lower_bound). For patterns that are searched for,
/// [`Effort::default`]; see [`plan_with`] for more or less.
pub fn plan(
    costs: &CostModel,
    pattern: Pattern,
    operation: Operation,
    root: RootChoice,
) -> Result<Plan, PlanError> {
    let unwatched = &mut |_: &Progress| ControlFlow::Continue(());
    plan_with(
        costs,
        pattern,
        operation,
        root,
        Effort::default(),
        unwatched,
    )
}

/// Plans like [`plan()`], with a limit and a watcher for patterns that are searched for; other patterns ignore both.
///
/// # Errors
///
/// The errors of [`plan()`].
///
/// # Examples
///
/// ```
/// use std::ops::ControlFlow;
/// use std::time::{Duration, Instant};
/// use corecast_plan::{Effort, Operation, Pattern, RootChoice, plan_with};
///
/// let machine = corecast_model::builtin("sandybridge-2x8").unwrap();
/// let start = Instant::now();
/// let plan = plan_with(
///     machine.costs(),
///     Pattern::Best,
///     Operation::Barrier,
///     RootChoice::Auto,
///     Effort { seed: 1, moves: u64::MAX },
///     &mut |_| match start.elapsed() < Duration::from_millis(5) {
///         true => ControlFlow::Continue(()),
///         false => ControlFlow::Break(()),
///     },
/// )?;
/// assert!(plan.lower_bound <= plan.latency);
/// # Ok::<(), corecast_plan::PlanError>(())
/// ```
pub fn plan_with(
    costs: &CostModel,
    pattern: Pattern,
    operation: Operation,
    root: RootChoice,
    effort: Effort,
    watch: Watch<'_>,
) -> Result<Plan, PlanError> {
    if !pattern.is_searched() {
        let root = root.resolve(costs)?;
        return pace::unwatched(|pace| built_within(costs, pattern, operation, root, None, pace));
    }
    let root = match root {
        RootChoice::Auto => None,
        root => Some(root.resolve(costs)?),
    };
    let found = best::search(costs, pattern, operation, root, effort, watch);
    let (at, bound) = (found.shape.root().unwrap_or(0), Some(found.lower_bound));
    let mut plan = Plan::of_shape(costs, pattern, operation, at, found.shape, bound)?;
    plan.scope.root = root;
    Ok(plan)
}

/// Makes the plan of a pattern that needs no search, unless a watcher ends it.
fn built_within(
    costs: &CostModel,
    pattern: Pattern,
    operation: Operation,
    root: usize,
    proved: Option<f64>,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Result<Plan, PlanError>> {
    if pattern.radix().is_some_and(|radix| radix < 2) {
        return ControlFlow::Continue(Err(PlanError::Radix { pattern }));
    }
    let tree = match operation {
        Operation::Reduce if pattern.looks_at_costs() => {
            let mirrored = bound::mirrored(costs, pace)?;
            let tree = pattern.tree_within(&mirrored, root, pace)?;
            tree.map(|tree| tree.reversed())
        }
        Operation::Reduce => {
            let tree = pattern.tree_within(costs, root, pace)?;
            tree.map(|tree| tree.reversed())
        }
        Operation::Broadcast | Operation::Barrier => pattern.tree_within(costs, root, pace)?,
    };
    let shape = match (tree, operation) {
        (Some(tree), _) => Shape::Tree(tree),
        (None, Operation::Barrier) => match pattern.rounds(costs.n()) {
            Some(rounds) => Shape::Rounds(rounds),
            None => return ControlFlow::Continue(Err(PlanError::Unsuited { pattern, operation })),
        },
        (None, _) => return ControlFlow::Continue(Err(PlanError::Unsuited { pattern, operation })),
    };
    let proved = proved.filter(|_| shape.root().is_some());
    let bound = match proved {
        Some(proved) => proved,
        // The schedule is there, so a bound that was not computed in time is 0.
        None => match shape.lower_bound_within(costs, operation, root, pace) {
            ControlFlow::Continue(bound) => bound,
            ControlFlow::Break(()) => 0.0,
        },
    };
    ControlFlow::Continue(Plan::of_shape(
        costs,
        pattern,
        operation,
        root,
        shape,
        Some(bound),
    ))
}

impl Plan {
    /// Returns the plan with a lower bound that was proved elsewhere for all schedules of `scope`, if that one is higher.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_plan::{Operation, Pattern, RootChoice, plan};
    ///
    /// let machine = corecast_model::synthetic("core:4 send=10 receive=30").unwrap();
    /// let star = plan(machine.costs(), Pattern::Sequential, Operation::Broadcast, RootChoice::Rank(0))?;
    /// assert_eq!((star.latency, star.proved_optimal), (60.0, true));
    /// assert_eq!(star.clone().with_lower_bound(20.0), star);
    /// # Ok::<(), corecast_plan::PlanError>(())
    /// ```
    #[must_use]
    pub fn with_lower_bound(mut self, proved: f64) -> Self {
        if proved > self.lower_bound {
            self.set_lower_bound(proved);
        }
        self
    }

    /// Sets the bound, the gap and whether the plan is proved optimal.
    pub(crate) fn set_lower_bound(&mut self, proved: f64) {
        self.proved_optimal = self.latency <= proved * (1.0 + PROVED);
        self.lower_bound = proved.min(self.latency);
        self.gap = if self.latency > 0.0 {
            (self.latency - self.lower_bound) / self.latency
        } else {
            0.0
        };
    }

    /// Makes the plan of a shape. `proved` is a bound that is known already; without one it is computed.
    pub(crate) fn of_shape(
        costs: &CostModel,
        pattern: Pattern,
        operation: Operation,
        root: usize,
        shape: Shape,
        proved: Option<f64>,
    ) -> Result<Self, PlanError> {
        let (found, expected) = (shape.len(), costs.n());
        if found != expected {
            return Err(PlanError::TeamSize { found, expected });
        }
        if shape.shares_lines() && costs.lines().is_none() {
            return Err(PlanError::NoLines);
        }
        let latency = shape.latency(costs, operation);
        let computed = || shape.lower_bound(costs, operation, root);
        let lower_bound = proved.unwrap_or_else(computed);
        let scope = Scope {
            space: Space::of(costs, operation, &shape),
            root: shape.root(),
        };
        let mut plan = Self {
            pattern,
            operation,
            root,
            shape,
            latency,
            lower_bound,
            scope,
            gap: 0.0,
            proved_optimal: false,
        };
        plan.set_lower_bound(lower_bound);
        Ok(plan)
    }
}
