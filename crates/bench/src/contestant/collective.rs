//! The collective operations in which plans race.

use std::fmt;
use std::str::FromStr;

/// A collective operation of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collective {
    /// No rank leaves before all ranks have entered.
    Barrier,
    /// All ranks get one rank's data.
    Broadcast,
    /// One rank gets the data of all ranks, combined.
    Reduce,
    /// All ranks get the data of all ranks, combined.
    Allreduce,
}

impl Collective {
    /// All operations.
    pub const ALL: [Self; 4] = [
        Self::Barrier,
        Self::Broadcast,
        Self::Reduce,
        Self::Allreduce,
    ];

    /// How its latency is measured, as a phrase for the reader of a table.
    pub fn method(self, oversubscribed: bool) -> &'static str {
        match (self, oversubscribed) {
            (Self::Barrier | Self::Allreduce, _) => {
                "operations back to back: each ends when all ranks have come"
            }
            (Self::Broadcast, false) => {
                "from the root's call until the last rank has the data: it answers, and the answer's way is taken off"
            }
            (Self::Broadcast, true) => {
                "from the root's call until the answer of the last rank is back"
            }
            (Self::Reduce, false) => {
                "from the start of all ranks until the root has the result: the root signals the start, and the signal's way is taken off"
            }
            (Self::Reduce, true) => "from the root's signal to start until the root has the result",
        }
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
        })
    }
}

/// The text is not the name of a collective operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {0:?} is unknown: use barrier, broadcast, reduce or allreduce")]
pub struct CollectiveError(pub String);

impl FromStr for Collective {
    type Err = CollectiveError;

    fn from_str(text: &str) -> Result<Self, CollectiveError> {
        let found = Self::ALL.into_iter().find(|c| c.to_string() == text);
        found.ok_or_else(|| CollectiveError(text.to_owned()))
    }
}

/// Bytes of an element: data are unsigned numbers of 64 bits.
pub const ELEMENT_BYTES: usize = size_of::<u64>();
