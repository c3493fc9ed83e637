//! The two protocols by which the ends of a queue agree on which slots are free.

use std::fmt;
use std::str::FromStr;

/// The protocol by which the two ends agree on which slots are free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Slots have a lap bit, and the receiver acknowledges in a line of its own.
    #[default]
    Ump,
    /// The receiver empties each slot.
    FastForward,
}

impl Backend {
    /// Every back end.
    pub const ALL: [Self; 2] = [Self::Ump, Self::FastForward];
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ump => "ump",
            Self::FastForward => "fastforward",
        })
    }
}

/// The error for a name that is no back end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no queue back end is called '{0}': take 'ump' or 'fastforward'")]
pub struct UnknownBackend(String);

impl FromStr for Backend {
    type Err = UnknownBackend;

    fn from_str(name: &str) -> Result<Self, UnknownBackend> {
        Self::ALL
            .into_iter()
            .find(|backend| backend.to_string() == name)
            .ok_or_else(|| UnknownBackend(name.to_owned()))
    }
}
