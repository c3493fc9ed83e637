//! The operations that are planned.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An operation that is planned for a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// The value of the root reaches all ranks.
    Broadcast,
    /// The values of all ranks are combined at the root.
    Reduce,
    /// No rank leaves before all have entered.
    Barrier,
}

/// The text names no operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {found:?} is unknown: use broadcast, reduce or barrier")]
pub struct OperationError {
    /// The text.
    pub found: String,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 3] = [Self::Broadcast, Self::Reduce, Self::Barrier];
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Barrier => "barrier",
        })
    }
}

impl FromStr for Operation {
    type Err = OperationError;

    fn from_str(text: &str) -> Result<Self, OperationError> {
        let found = Self::ALL
            .into_iter()
            .find(|operation| operation.to_string() == text);
        found.ok_or_else(|| OperationError {
            found: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for operation in Operation::ALL {
            assert_eq!(operation.to_string().parse(), Ok(operation));
        }
        let error = "bcast".parse::<Operation>().unwrap_err().to_string();
        assert!(error.contains("\"bcast\"") && error.contains("broadcast, reduce or barrier"));
    }
}
