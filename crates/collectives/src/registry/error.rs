//! The error for a name that no algorithm has.

use super::Entry;
use corecast_model::Collective;

/// The names that could have been meant by one that none of these algorithms has: those with a size, if it is an
/// algorithm that has sizes, else those of all.
pub fn names_near(
    entries: impl Iterator<Item = &'static Entry> + Clone,
    name: &str,
) -> Vec<&'static str> {
    let base = name.split(':').next().unwrap_or(name);
    let sizes = entries.clone().find(|entry| entry.name == base);
    match sizes.and_then(|entry| entry.sizes) {
        Some(sizes) => sizes.names.to_vec(),
        None => entries.map(|entry| entry.name).collect(),
    }
}

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
