//! The problem of a clustering, and its limits.

use serde::{Deserialize, Serialize};

/// What is clustered, and into how many centres.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Number of points of the stream.
    pub points: usize,
    /// Number of coordinates of each point.
    pub dimensions: usize,
    /// Fewest centres.
    pub centres_min: usize,
    /// Most centres.
    pub centres_max: usize,
    /// Number of points that are clustered together.
    pub chunk: usize,
    /// Seed of the points and of all random choices.
    pub seed: u64,
}

impl Default for Problem {
    fn default() -> Problem {
        Problem {
            points: 8192,
            dimensions: 32,
            centres_min: 10,
            centres_max: 20,
            chunk: 2048,
            seed: 1,
        }
    }
}

/// Most dimensions: a squared distance then fits 31 bits.
pub const DIMENSIONS_MAX: usize = 128;

/// Most points: sums of their distances then stay far from 63 bits.
pub const POINTS_MAX: usize = 1 << 24;

/// Why a problem cannot be solved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProblemError {
    /// Too few or too many points.
    #[error("{0} points: from 1 to {POINTS_MAX} can be clustered")]
    Points(usize),
    /// Too few or too many dimensions.
    #[error("{0} dimensions: from 1 to {DIMENSIONS_MAX} are possible")]
    Dimensions(usize),
    /// The limits allow no centre, or the fewest are more than the most.
    #[error("from {min} to {max} centres: the first must be 1 at least, and the second no less")]
    Centres {
        /// Fewest.
        min: usize,
        /// Most.
        max: usize,
    },
    /// A chunk has no more points than there may be centres.
    #[error("chunks of {chunk} points: with up to {max} centres, more are needed")]
    Chunk {
        /// Points of a chunk.
        chunk: usize,
        /// Most centres.
        max: usize,
    },
}

impl Problem {
    /// Checks that the problem can be solved.
    ///
    /// # Errors
    ///
    /// [`ProblemError`] if a number is out of its limits.
    pub fn check(&self) -> Result<(), ProblemError> {
        let (min, max) = (self.centres_min, self.centres_max);
        if self.points == 0 || self.points > POINTS_MAX {
            return Err(ProblemError::Points(self.points));
        }
        if self.dimensions == 0 || self.dimensions > DIMENSIONS_MAX {
            return Err(ProblemError::Dimensions(self.dimensions));
        }
        if min == 0 || max < min {
            return Err(ProblemError::Centres { min, max });
        }
        if self.chunk <= max {
            let chunk = self.chunk;
            return Err(ProblemError::Chunk { chunk, max });
        }
        Ok(())
    }
}
