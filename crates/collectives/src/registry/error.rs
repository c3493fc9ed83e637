//! The error for a name that no algorithm has.

use corecast_model::Collective;

/// The error for a name that no algorithm of an operation has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no algorithm of {operation} is called '{name}': take one of {}", known.join(", "))]
pub struct UnknownAlgorithm {
    /// The operation.
    pub operation: Collective,
    /// The name that was asked for.
    pub name: String,
    /// The names of the operation's algorithms.
    pub known: Vec<&'static str>,
}
