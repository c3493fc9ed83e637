//! The error of lists of targets that are no barrier.

/// Reasons for which lists of targets are no barrier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RoundsError {
    /// The team has no member.
    #[error("the schedule has no members")]
    Empty,
    /// A round has a list for too many or too few ranks.
    #[error("round {round} has lists for {found} ranks, expected {expected}")]
    Length {
        /// The round.
        round: usize,
        /// Lists found.
        found: usize,
        /// Members of the team.
        expected: usize,
    },
    /// A target is the rank itself or outside of the team.
    #[error("in round {round} rank {rank} notifies {target}: targets are other ranks, 0 to {last}")]
    Target {
        /// The round.
        round: usize,
        /// The rank with the list.
        rank: usize,
        /// The target.
        target: usize,
        /// The last rank.
        last: usize,
    },
    /// A target is listed twice.
    #[error("in round {round} rank {rank} notifies {target} twice")]
    Repeated {
        /// The round.
        round: usize,
        /// The rank with the list.
        rank: usize,
        /// The target.
        target: usize,
    },
    /// A rank could leave before all have entered.
    #[error("rank {rank} can leave before rank {unheard} has entered: add a notification")]
    NotABarrier {
        /// The rank that could leave.
        rank: usize,
        /// A rank that it has not heard of.
        unheard: usize,
    },
}
