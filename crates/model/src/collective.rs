//! The collectives, by the names that everything else uses for them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A number of a member of a team, from 0.
pub type Rank = usize;

/// What a collective does. The words are those of MPI, spelled out.
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
    /// Nobody leaves before everybody has come.
    Barrier,
    /// One rank's data for everybody.
    Broadcast,
    /// Everybody's data combined, for one rank.
    Reduce,
    /// Everybody's data combined, for everybody.
    Allreduce,
    /// One rank's data, a part for each.
    Scatter,
    /// Everybody's data side by side, for one rank.
    Gather,
    /// Everybody's data side by side, for everybody.
    Allgather,
    /// A part from each rank for each rank.
    Alltoall,
    /// Everybody's data combined, a block for each rank.
    ReduceScatter,
    /// The data of all ranks up to the own one combined.
    Scan,
    /// The data of all ranks before the own one combined.
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
    /// Every one.
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

    /// Those that have algorithms of their own; the others share theirs, see
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

    /// Its name.
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

    /// A number from 1 on that stays what it is, for protocols between processes.
    pub const fn number(self) -> u32 {
        self as u32 + 1
    }

    /// The collective with that [`number`](Self::number).
    pub fn of_number(number: u32) -> Option<Self> {
        Self::ALL.get(number.checked_sub(1)? as usize).copied()
    }

    /// The collective whose algorithms this one runs: itself, or the one with equal parts, or the inclusive scan.
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

    /// Whether one rank gives or gets what the others do not.
    pub const fn has_root(self) -> bool {
        matches!(
            self.algorithms_of(),
            Self::Broadcast | Self::Reduce | Self::Scatter | Self::Gather
        )
    }

    /// Whether the ranks' parts may have different lengths.
    pub const fn has_parts(self) -> bool {
        matches!(
            self,
            Self::Scatterv
                | Self::Gatherv
                | Self::Allgatherv
                | Self::Alltoallv
                | Self::ReduceScatterv
        )
    }

    /// How many blocks of data a rank brings, or the root of a scatter for all: a block is what each rank gives or
    /// gets, in an alltoall what it gives each other one.
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

/// A name that is no collective.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no operation is called '{0}': take one of {names}", names = Collective::ALL.map(Collective::name).join(", "))]
pub struct UnknownCollective(pub String);

impl FromStr for Collective {
    type Err = UnknownCollective;

    fn from_str(name: &str) -> Result<Self, UnknownCollective> {
        let found = Self::ALL.into_iter().find(|one| one.name() == name);
        found.ok_or_else(|| UnknownCollective(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_those_of_one_collective() {
        for one in Collective::ALL {
            assert_eq!(one.name().parse(), Ok(one));
            assert_eq!(Collective::of_number(one.number()), Some(one));
            assert_eq!(one.has_root(), one.algorithms_of().has_root());
            let json = serde_json::to_string(&one).unwrap();
            assert_eq!(json, format!("\"{one}\""));
        }
        assert_eq!(Collective::of_number(0), None);
        assert_eq!(Collective::of_number(17), None);
        let error = "gossip".parse::<Collective>().unwrap_err();
        assert!(error.to_string().contains("'gossip': take one of barrier"));
    }
}
