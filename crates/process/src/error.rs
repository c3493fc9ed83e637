//! Why a process cannot become part of a team.

use crate::peer_monitor::WatchError;
use crate::rendezvous::RendezvousError;
use crate::segment_header::SegmentHeaderError;
use corecast_team::TeamError;
use corecast_wire::SegmentError;
use std::error::Error;
use std::time::Duration;

/// Why a process could not become part of a team.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnterError {
    /// The processes did not find each other.
    #[error(transparent)]
    Rendezvous(#[from] RendezvousError),
    /// The environment names a place in a team that cannot be taken.
    #[error(transparent)]
    Inherit(#[from] InheritError),
    /// The memory is not that of this team.
    #[error(transparent)]
    SegmentHeader(#[from] SegmentHeaderError),
    /// No team can have these options.
    #[error(transparent)]
    Team(#[from] TeamError),
    /// The memory could not be made or mapped.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// Another process cannot be watched.
    #[error(transparent)]
    Watch(#[from] WatchError),
    /// The plans could not be made.
    #[error("cannot plan for the team: {0}")]
    Plans(Box<dyn Error + Send + Sync>),
    /// A rank that the team does not have was asked for.
    #[error("rank {rank} is outside of a team of {size}: ranks count from 0 to the size less one")]
    Outside {
        /// The rank.
        rank: usize,
        /// Number of ranks of the team.
        size: usize,
    },
    /// Another process has taken the rank.
    #[error("rank {rank} is process {pid}'s already")]
    Taken {
        /// The rank.
        rank: usize,
        /// The process that has taken it.
        pid: u32,
    },
    /// The team has no other processes.
    #[error("a team of one process has no successor of several: make another team")]
    OneProcess,
    /// A member of this process has not left the team.
    #[error("rank {rank} is still joined: drop the member before the team goes on without others")]
    Joined {
        /// The rank.
        rank: usize,
    },
    /// All ranks of this process leave. The others go on without it.
    #[error("all ranks of this process leave the team: the others go on without it")]
    AllLeave,
    /// The team has been succeeded.
    #[error("the team has a successor already: go on with that one")]
    Succeeded,
    /// The others have gone on without a rank of this process.
    #[error("the others have gone on without rank {rank}, whose process had dropped the team")]
    Excluded {
        /// The rank.
        rank: usize,
    },
    /// Another process wants something else done with the places of lost ranks.
    #[error(
        "rank {rank} wants something else done with the places of lost ranks: all processes have to close them, or all have to refill them"
    )]
    Differs {
        /// A rank of the other process.
        rank: usize,
    },
    /// The team was inherited from a launcher, so that no process could find it.
    #[error(
        "a team that a launcher made has no address at which other processes find it: go on without the lost ranks, or enter a team at an address"
    )]
    NoAddress,
    /// The memory at the address was made in an earlier attempt of the team to go on.
    #[error(
        "the processes at this address met in an earlier attempt to go on: start those again that were to take lost places"
    )]
    OtherRound,
    /// Another process has not said whether it goes on within the limit.
    #[error(
        "after {waited:?} rank {rank} has neither gone on nor ended: all processes that live have to call this"
    )]
    Undecided {
        /// The rank.
        rank: usize,
        /// How long this process has waited.
        waited: Duration,
    },
    /// Some ranks have not joined within the limit.
    #[error("after {waited:?} nobody has come for rank {rank} of {size}: start all processes")]
    Missing {
        /// The first rank that is missing.
        rank: usize,
        /// Number of ranks of the team.
        size: usize,
        /// How long this process has waited.
        waited: Duration,
    },
}

/// Why the place in a team that the environment describes cannot be taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InheritError {
    /// Some of the variables are set and others are not, or one is not a number in its range.
    #[error(
        "{variable} is {value:?}, a number from {min} to {max} is needed: start this program with `corecast run`, or unset the three variables CORECAST_TEAM_FD, _RANK and _SIZE"
    )]
    Variable {
        /// Name of the variable.
        variable: &'static str,
        /// Value of the variable; `None` if it is not set.
        value: Option<String>,
        /// The least number that it may hold.
        min: u32,
        /// The greatest number that it may hold.
        max: u32,
    },
    /// The descriptor was closed before this program started, or it is not one of memory.
    #[error(
        "CORECAST_TEAM_FD is {number}, which cannot be opened ({source}): whoever starts this program must pass the descriptor on"
    )]
    Descriptor {
        /// The number of the descriptor.
        number: u32,
        /// The error of the kernel.
        source: std::io::Error,
    },
}
