//! The constructs of parallel programs, by name.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A construct of parallel programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Construct {
    /// A region that all ranks work in, begun and ended by rank 0.
    Parallel,
    /// One iteration for each rank, and a barrier.
    For,
    /// A region with one iteration for each rank.
    ParallelFor,
    /// Work, and a barrier.
    Barrier,
    /// Work of one rank, and a barrier.
    Single,
    /// Work of one rank at a time.
    Critical,
    /// A region at whose end rank 0 has the sum over all ranks.
    Reduction,
}

impl Construct {
    /// All constructs.
    pub const ALL: [Self; 7] = [
        Self::Parallel,
        Self::For,
        Self::ParallelFor,
        Self::Barrier,
        Self::Single,
        Self::Critical,
        Self::Reduction,
    ];

    /// Its name in tables and as an argument of programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parallel => "parallel",
            Self::For => "for",
            Self::ParallelFor => "parallel_for",
            Self::Barrier => "barrier",
            Self::Single => "single",
            Self::Critical => "critical",
            Self::Reduction => "reduction",
        }
    }
}

impl fmt::Display for Construct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
