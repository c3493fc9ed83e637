//! Errors of profiles.

/// Why a profile was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The text is no JSON, or has not the expected shape.
    #[error("not a profile: {reason}")]
    Json {
        /// The message of the JSON reader, with line and column.
        reason: String,
    },
    /// The profile has a version that this program does not know.
    #[error("profile schema {found} is unknown: run `corecast tune` again to write schema 1")]
    Schema {
        /// The value found.
        found: u64,
    },
    /// The winner of an entry is not among its candidates.
    #[error("profile entry {entry}: the winner {winner:?} is not among the candidates")]
    NoWinner {
        /// The index of the entry.
        entry: usize,
        /// The name of the winner.
        winner: String,
    },
    /// A tuning is not consistent.
    #[error("profile tuning {tuning}: {reason}")]
    Tuning {
        /// The index of the tuning.
        tuning: usize,
        /// The reason.
        reason: String,
    },
    /// A tree of a candidate is not over the entry's team.
    #[error(
        "profile entry {entry}: {pattern:?} has {found} lists of children, expected {expected}"
    )]
    TeamSize {
        /// The index of the entry.
        entry: usize,
        /// The name of the candidate.
        pattern: String,
        /// Lists found.
        found: usize,
        /// Members of the team.
        expected: usize,
    },
}
