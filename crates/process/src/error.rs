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
