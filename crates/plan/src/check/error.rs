//! Errors of a checked plan.

use crate::operation::Operation;

/// What is wrong with a plan. Every message is one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// A schedule for another team.
    #[error("the schedule has {found} members, the cost model {expected}")]
    TeamSize {
        /// Members of the schedule.
        found: usize,
        /// Members of the cost model.
        expected: usize,
    },
    /// The root, a child or a target is no member.
    #[error("the schedule names rank {rank}, outside of the team, whose ranks are 0 to {last}")]
    Outside {
        /// The rank that it names.
        rank: usize,
        /// The last rank.
        last: usize,
    },
    /// The plan and its tree start at different ranks.
    #[error("the plan's root is {plan}, its tree's is {tree}")]
    Root {
        /// [`Plan::root`](crate::Plan::root).
        plan: usize,
        /// The tree's.
        tree: usize,
    },
    /// The root is somebody's child.
    #[error("not a tree: rank {parent} lists the root {root} as a child")]
    RootIsChild {
        /// The rank with the list.
        parent: usize,
        /// The root.
        root: usize,
    },
    /// A rank that several lists have, or one list twice.
    #[error("not a tree: rank {rank} is listed {times} times")]
    Repeated {
        /// The rank.
        rank: usize,
        /// How many times the rank is listed.
        times: usize,
    },
    /// A rank that no list has.
    #[error("not a tree: rank {rank} is in no list of children")]
    Dropped {
        /// The rank.
        rank: usize,
    },
    /// A rank below itself.
    #[error("not a tree: rank {rank} is its own ancestor")]
    Cycle {
        /// A rank on the cycle.
        rank: usize,
    },
    /// A group without members.
    #[error("group {group} of rank {rank} has no members")]
    EmptyGroup {
        /// The parent.
        rank: usize,
        /// The group's place in its list, from 0.
        group: usize,
    },
    /// The plan has groups of two or more, and the cost model has no costs of shared lines.
    #[error("members share lines, and the cost model does not say what that costs")]
    NoLines,
    /// A member waits for a message that never comes.
    #[error("rank {rank} waits for a message of rank {source_rank} that never comes")]
    Stuck {
        /// The rank that waits.
        rank: usize,
        /// The rank whose message does not come.
        source_rank: usize,
    },
    /// A message is sent and never taken.
    #[error("rank {rank} never takes a message of rank {source_rank}")]
    Untaken {
        /// The rank that the message was sent to.
        rank: usize,
        /// The rank that sent it.
        source_rank: usize,
    },
    /// A rank ends its schedule without having heard of all ranks that the operation requires.
    #[error("rank {rank} is done with the {operation} without having heard of rank {unheard}")]
    Unheard {
        /// The operation.
        operation: Operation,
        /// The rank that is done too early.
        rank: usize,
        /// A rank that it has not heard of.
        unheard: usize,
    },
    /// A contribution is combined twice.
    #[error("rank {rank} takes the contribution of rank {of} twice")]
    Twice {
        /// The rank that combines it.
        rank: usize,
        /// The rank whose contribution it is.
        of: usize,
    },
    /// A number of the plan is NaN, infinite or negative.
    #[error("the plan's {what} is {value}: it must be a number from 0")]
    Number {
        /// `latency`, `bound` or `gap`.
        what: &'static str,
        /// The value, as text.
        value: String,
    },
    /// The schedule takes another time than the plan says.
    #[error("the plan says a latency of {said}, its schedule takes {found}")]
    Latency {
        /// [`Plan::latency`](crate::Plan::latency).
        said: f64,
        /// The latency that was found by playing the schedule.
        found: f64,
    },
    /// The latency is below the bound that the plan says no plan can beat.
    #[error("the bound {bound} is above the latency {latency}")]
    Bound {
        /// [`Plan::lower_bound`](crate::Plan::lower_bound).
        bound: f64,
        /// The latency of the schedule.
        latency: f64,
    },
    /// The gap is not the one that follows from latency and bound.
    #[error("the plan says a gap of {said}, its latency and its bound make {found}")]
    Gap {
        /// [`Plan::gap`](crate::Plan::gap).
        said: f64,
        /// The gap that follows from latency and bound.
        found: f64,
    },
    /// The plan is called optimal while its bound is below its latency.
    #[error("called optimal, while the bound {bound} is below the latency {latency}")]
    NotProved {
        /// [`Plan::lower_bound`](crate::Plan::lower_bound).
        bound: f64,
        /// [`Plan::latency`](crate::Plan::latency).
        latency: f64,
    },
    /// The operation is no barrier, and the shape can do nothing else.
    #[error("a schedule of this shape cannot {operation}")]
    Unsuited {
        /// The operation.
        operation: Operation,
    },
}
