//! How a team changes by one member, and what that does to its ranks.

/// The way from old ranks to new ones.
#[derive(Clone, Copy)]
pub(super) enum Change {
    /// This old rank goes, those above it move down by one.
    Left(usize),
    /// This new rank comes, those from there on have moved up by one.
    Joined(usize),
}

impl Change {
    /// The new rank of an old one that stays.
    pub(super) fn new_rank(self, old: usize) -> usize {
        match self {
            Self::Left(rank) => old - usize::from(old > rank),
            Self::Joined(rank) => old + usize::from(old >= rank),
        }
    }
}
