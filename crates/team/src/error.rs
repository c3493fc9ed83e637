//! Why a team could not be made, or a rank of it not joined.

use crate::operation::RANKS_MAX;
use corecast_wire::SegmentError;
use std::panic::Location;

/// Why a team could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TeamError {
    /// The memory for the lines could not be made.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// The number of NUMA nodes is not the number of ranks.
    #[error(
        "{given} NUMA nodes were given for {ranks} ranks: give one for each rank, or none at all"
    )]
    NumaNodes {
        /// NUMA nodes given.
        given: usize,
        /// Ranks of the plans.
        ranks: usize,
    },
    /// There are more ranks than an operation's history entry has room for.
    #[error("a team has at most {RANKS_MAX} ranks; {0} were asked for")]
    TooLarge(usize),
    /// There can be more operations in flight than the team's lines have numbers for.
    #[error(
        "a member of this team can have at most {most} operations in flight; a depth of {depth} was asked for"
    )]
    Depth {
        /// Operations in flight that were asked for.
        depth: usize,
        /// Most operations in flight of this team.
        most: usize,
    },
    /// No queue can have this number of slots.
    #[error("a queue has a power of two of slots, at least 2; {0} were asked for")]
    Slots(usize),
    /// A team of processes has kept too little memory for the lines of an algorithm.
    #[error(
        "the lines of the algorithm take {wanted} bytes near rank {rank}, and {left} are left of what the team of processes keeps for such: make the team with a greater `Options::lines`"
    )]
    LinesOfProcesses {
        /// The rank near which they have no room.
        rank: usize,
        /// Bytes that they take there.
        wanted: usize,
        /// Bytes that are left there.
        left: usize,
    },
}

/// Why a rank could not be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The rank has been joined before. Each rank can be joined once.
    #[error("rank {rank} is joined twice: at {first} and at {second}")]
    Taken {
        /// The rank.
        rank: usize,
        /// Where it was joined first.
        first: &'static Location<'static>,
        /// Where it was joined again.
        second: &'static Location<'static>,
    },
    /// The rank belongs to another process.
    #[error("rank {rank} belongs to another process: join as one of this process's own ranks")]
    Elsewhere {
        /// The rank.
        rank: usize,
    },
    /// There is no such rank.
    #[error("rank {rank} is outside of the team, whose ranks are 0 to {last}")]
    Outside {
        /// The rank.
        rank: usize,
        /// The last rank.
        last: usize,
    },
}
