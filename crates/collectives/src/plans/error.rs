//! The error of plans that make no team.

use corecast_plan::{Operation, PlanError};

/// Why plans do not make a team.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlansError {
    /// The planner could not make a plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A plan was given for another operation.
    #[error("a plan to {found} was given where one to {expected} is needed")]
    Operation {
        /// The operation that is needed.
        expected: Operation,
        /// The operation of the plan that was given.
        found: Operation,
    },
    /// A plan has a shape that this version cannot run.
    #[error("the plan has a shape that no collective runs: plan with another pattern")]
    Shape,
    /// The number of packages differs from that of ranks.
    #[error(
        "{given} packages were given for {ranks} ranks: give one for each rank, or none at all"
    )]
    Packages {
        /// Number of packages that were given.
        given: usize,
        /// Number of ranks of the plans.
        ranks: usize,
    },
    /// The plans are for teams of different sizes.
    #[error(
        "the plans are for teams of different sizes: barrier {barrier}, broadcast {broadcast}, reduce {reduce}"
    )]
    Sizes {
        /// Number of ranks of the barrier's plan.
        barrier: usize,
        /// Number of ranks of the broadcast's plan.
        broadcast: usize,
        /// Number of ranks of the reduction's plan.
        reduce: usize,
    },
}
