//! The error of plans that cannot be made.

use crate::operation::Operation;
use crate::pattern::Pattern;

/// Why a plan cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The root is outside of the team.
    #[error("root {root} is outside of the team, whose ranks are 0 to {last}")]
    RootOutside {
        /// The root asked for.
        root: usize,
        /// The last rank.
        last: usize,
    },
    /// The pattern cannot perform this operation.
    #[error("pattern \"{pattern}\" cannot {operation}: it has no root; use it for a barrier")]
    Unsuited {
        /// The pattern.
        pattern: Pattern,
        /// The operation.
        operation: Operation,
    },
    /// The radix is below 2.
    #[error("pattern \"{pattern}\" needs a radix of at least 2")]
    Radix {
        /// The pattern.
        pattern: Pattern,
    },
    /// The two trees of a barrier have different roots.
    #[error("the fan-in ends at rank {fan_in}, the fan-out starts at rank {fan_out}")]
    Roots {
        /// Root of the fan-in.
        fan_in: usize,
        /// Root of the fan-out.
        fan_out: usize,
    },
    /// Members share lines, and the cost model has no costs of shared lines.
    #[error("the schedule shares lines, and the cost model does not say what that costs")]
    NoLines,
    /// The schedule is for a team of another size.
    #[error("the schedule has {found} members, the cost model {expected}")]
    TeamSize {
        /// Members of the schedule.
        found: usize,
        /// Members of the cost model.
        expected: usize,
    },
}
