//! The collectives, with the names that all of Corecast uses for them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A collective. The names are those of MPI, spelled out.
///
/// # Examples
///
/// ```
/// use corecast_model::Collective;
///
/// assert_eq!("allreduce".parse(), Ok(Collective::Allreduce));
/// assert_eq!(Collective::Scatterv.algorithms_of(), Collective::Scatter);
/// assert!(Collective::Gather.has_root() && !Collective::Scan.has_root());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Collective {
    /// No rank leaves before all have entered.
    Barrier,
    /// The data of one rank reach all ranks.
    Broadcast,
    /// The data of all ranks are combined at one rank.
    Reduce,
    /// The data of all ranks are combined, and all ranks get the result.
    Allreduce,
    /// One rank's data are split into parts, one for each rank.
    Scatter,
    /// The data of all ranks are put side by side at one rank.
    Gather,
    /// The data of all ranks are put side by side at every rank.
    Allgather,
    /// Each rank sends a part of its data to each rank.
    Alltoall,
    /// The data of all ranks are combined, and each rank gets one block of the result.
    ReduceScatter,
    /// Each rank gets the combined data of all ranks up to and including itself.
    Scan,
    /// Each rank gets the combined data of all ranks before itself.
    Exscan,
    /// A scatter of parts of different lengths.
    Scatterv,
    /// A gather of parts of different lengths.
    Gatherv,
    /// An allgather of parts of different lengths.
    Allgatherv,
    /// An all-to-all of parts of different lengths.
    Alltoallv,
    /// A reduction, scattered in blocks of different lengths.
    ReduceScatterv,
}

impl Collective {
    /// All collectives.
    pub const ALL: [Self; 16] = [
        Self::Barrier,
        Self::Broadcast,
        Self::Reduce,
        Self::Allreduce,
        Self::Scatter,
        Self::Gather,
        Self::Allgather,
        Self::Alltoall,
        Self::ReduceScatter,
        Self::Scan,
        Self::Exscan,
        Self::Scatterv,
        Self::Gatherv,
        Self::Allgatherv,
        Self::Alltoallv,
        Self::ReduceScatterv,
    ];

    /// The collectives that have algorithms of their own. The others use theirs, see
    /// [`algorithms_of`](Self::algorithms_of).
    pub const WITH_ALGORITHMS: [Self; 10] = [
        Self::Barrier,
        Self::Broadcast,
        Self::Reduce,
        Self::Allreduce,
        Self::Scatter,
        Self::Gather,
        Self::Allgather,
        Self::Alltoall,
        Self::ReduceScatter,
        Self::Scan,
    ];

    /// Returns the name, for example `allreduce`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::Scatter => "scatter",
            Self::Gather => "gather",
            Self::Allgather => "allgather",
            Self::Alltoall => "alltoall",
            Self::ReduceScatter => "reduce_scatter",
            Self::Scan => "scan",
            Self::Exscan => "exscan",
            Self::Scatterv => "scatterv",
            Self::Gatherv => "gatherv",
            Self::Allgatherv => "allgatherv",
            Self::Alltoallv => "alltoallv",
            Self::ReduceScatterv => "reduce_scatterv",
        }
    }

    /// Returns a number from 1 on that never changes, for protocols between processes.
    pub const fn number(self) -> u32 {
        self as u32 + 1
    }

    /// Returns the collective with that [`number`](Self::number).
    pub fn of_number(number: u32) -> Option<Self> {
        Self::ALL.get(number.checked_sub(1)? as usize).copied()
    }

    /// Returns the collective whose algorithms this one runs: itself, the one with equal parts, or the inclusive
    /// scan.
    pub const fn algorithms_of(self) -> Self {
        match self {
            Self::Exscan => Self::Scan,
            Self::Scatterv => Self::Scatter,
            Self::Gatherv => Self::Gather,
            Self::Allgatherv => Self::Allgather,
            Self::Alltoallv => Self::Alltoall,
            Self::ReduceScatterv => Self::ReduceScatter,
            other => other,
        }
    }

    /// Whether one rank sends or receives what the other ranks do not.
    pub const fn has_root(self) -> bool {
        matches!(
            self.algorithms_of(),
            Self::Broadcast | Self::Reduce | Self::Scatter | Self::Gather
        )
    }

    /// Returns the number of blocks of data at a rank, or at the root of a scatter. A block is what each rank
    /// gives or gets, and in an alltoall what it gives each other rank.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_model::Collective;
    ///
    /// assert_eq!(Collective::Broadcast.blocks(8), 1);
    /// assert_eq!(Collective::Alltoall.blocks(8), 8);
    /// assert_eq!(Collective::Barrier.blocks(8), 0);
    /// ```
    pub const fn blocks(self, n: usize) -> usize {
        match self.algorithms_of() {
            Self::Barrier => 0,
            Self::Alltoall | Self::ReduceScatter | Self::Scatter => n,
            _ => 1,
        }
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The text is the name of no collective.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {0:?} is unknown: use one of {names}", names = Collective::ALL.map(Collective::name).join(", "))]
pub struct UnknownCollective(pub String);

impl FromStr for Collective {
    type Err = UnknownCollective;

    fn from_str(name: &str) -> Result<Self, UnknownCollective> {
        let found = Self::ALL.into_iter().find(|one| one.name() == name);
        found.ok_or_else(|| UnknownCollective(name.to_owned()))
    }
}

#[cfg(test)]
mod tests;
