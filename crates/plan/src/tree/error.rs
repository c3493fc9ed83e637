//! The error of child lists that are no tree.

/// Reasons for which child lists are no tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// There is no list.
    #[error("the tree has no members: give one list of children for each rank")]
    Empty,
    /// The root is outside of the team.
    #[error("root {root} is outside of the team, whose ranks are 0 to {last}")]
    RootOutside {
        /// The root asked for.
        root: usize,
        /// The last rank.
        last: usize,
    },
    /// A child is outside of the team.
    #[error("rank {parent} lists child {child}, outside of the team, whose ranks are 0 to {last}")]
    ChildOutside {
        /// The rank with the list.
        parent: usize,
        /// The child.
        child: usize,
        /// The last rank.
        last: usize,
    },
    /// A rank is listed by two parents, or twice by one.
    #[error("rank {child} is a child of rank {first} and again of rank {second}: list it once")]
    Duplicate {
        /// The repeated rank.
        child: usize,
        /// The parent that lists it first.
        first: usize,
        /// The parent that lists it again.
        second: usize,
    },
    /// The root is listed as a child.
    #[error("rank {parent} lists the root {root} as a child")]
    RootIsChild {
        /// The rank with the list.
        parent: usize,
        /// The root.
        root: usize,
    },
    /// No rank serves this one.
    #[error("rank {rank} is not reached from root {root}: no rank lists it as a child")]
    Unreached {
        /// The lowest such rank.
        rank: usize,
        /// The root.
        root: usize,
    },
    /// Following the parents of this rank leads back to it.
    #[error("rank {rank} is its own ancestor, and is not reached from root {root}")]
    Cycle {
        /// The lowest rank on or below a cycle.
        rank: usize,
        /// The root.
        root: usize,
    },
}
