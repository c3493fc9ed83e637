//! How a team changes by one member, and what that does to its ranks.

/// The change from old ranks to new ones.
#[derive(Clone, Copy)]
pub(super) enum Change {
    /// The member of this old rank leaves; ranks above it move down by one.
    Left(usize),
    /// A member joins with this new rank; old ranks from there on move up by one.
    Joined(usize),
}

impl Change {
    /// Returns the new rank of an old one that stays.
    pub(super) fn new_rank(self, old: usize) -> usize {
        match self {
            Self::Left(rank) => old - usize::from(old > rank),
            Self::Joined(rank) => old + usize::from(old >= rank),
        }
    }
}
