//! The operations that are planned.

use std::fmt;
use std::str::FromStr;

use corecast_model::Collective;
use serde::{Deserialize, Serialize};

/// An operation that is planned for a team: one of the [`Collective`]s that plans are made for, under the same
/// name.
///
/// # Examples
///
/// ```
/// use corecast_model::Collective;
/// use corecast_plan::Operation;
///
/// assert_eq!(Collective::from(Operation::Reduce), Collective::Reduce);
/// assert_eq!("reduce".parse(), Ok(Operation::Reduce));
/// assert!("allreduce".parse::<Operation>().is_err());
/// ```
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

impl From<Operation> for Collective {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Broadcast => Self::Broadcast,
            Operation::Reduce => Self::Reduce,
            Operation::Barrier => Self::Barrier,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Collective::from(*self).fmt(f)
    }
}

impl FromStr for Operation {
    type Err = OperationError;

    fn from_str(text: &str) -> Result<Self, OperationError> {
        let named: Option<Collective> = text.parse().ok();
        let found = Self::ALL
            .into_iter()
            .find(|&operation| named == Some(operation.into()));
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
