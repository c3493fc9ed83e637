//! Why a profile is refused.

/// Why a profile was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// No JSON, or not of the expected shape.
    #[error("not a profile: {reason}")]
    Json {
        /// What the JSON reader says, with line and column.
        reason: String,
    },
    /// A version that this program does not know.
    #[error("profile schema {found} is unknown: run `corecast tune` again to write schema 1")]
    Schema {
        /// The value found.
        found: u64,
    },
    /// A winner that did not run.
    #[error("profile entry {entry}: the winner {winner:?} is not among the candidates")]
    NoWinner {
        /// Which entry.
        entry: usize,
        /// The name.
        winner: String,
    },
    /// A tuning that cannot be.
    #[error("profile tuning {tuning}: {reason}")]
    Tuning {
        /// Which one.
        tuning: usize,
        /// What is wrong.
        reason: String,
    },
    /// A tree of a candidate is not over the entry's team.
    #[error(
        "profile entry {entry}: {pattern:?} has {found} lists of children, expected {expected}"
    )]
    TeamSize {
        /// Which entry.
        entry: usize,
        /// The candidate.
        pattern: String,
        /// Lists found.
        found: usize,
        /// Members of the team.
        expected: usize,
    },
}
