//! Trees whose parents serve groups: Smelt's sends and CLa's single-step broadcast in one space.
//!
//! Each parent serves an ordered list of *groups*. The members of a group of two or more share one
//! line with their parent; groups are served one after another.
//!
//! ```text
//!        0            groups(0) = [[4], [1, 2, 3]]: rank 0 sends a message to rank 4, then writes
//!      ╱ │            one line that ranks 1, 2 and 3 poll
//!     4  ├─┬─┐
//!     │  1 2 3        groups(4) = [[5]]
//!     5
//! ```
//!
//! With groups of one everywhere this is a [`Tree`] and costs exactly what [`crate::cost`] says. The other extreme is
//! *flat*: one group of all others. Costs of shared lines come with the cost model ([`corecast_model::lines`]);
//! without them there are no groups of two or more.
//!
//! # What a group costs
//!
//! From Ramos and Hoefler, *Cache Line Aware Algorithm Design for Cache-Coherent Architectures*
//! (CLa, TPDS 2016), whose best case `T_min` is taken throughout, as the paper does when it chooses
//! trees (§2.3). g is the size of the group, p the parent.
//!
//! | what | cost | source |
//! | --- | --- | --- |
//! | a group of one, both ways | `send`, `receive` of the pair: a message | Smelt §3.1; its line form is CLa's "different lines", Equations 20 to 22 and 10, 11 |
//! | fan-out: p writes the line, and is blocked for | `write + Σ_j invalidate(p, j)` | `R_I`, Equations 14 to 16; readers that poll already, §2.3 *n-readers*, Equations 17 and 18 |
//! | fan-out: each member j fetches it, all at once, in | `T_C(g) = base(p, j) + slope(p, j)·g` | Equations 2 and 16; without contention `R_R` or `R_Q`, Equations 14 and 15 |
//! | fan-in: the first member adds to the line in | `write` | `R_I`, Equations 6 and 7 |
//! | fan-in: whoever takes the line from member j, to add or, as the parent, to read, does so in | `transfer(p, j)` | `R_R` or `R_Q`, Equations 6 and 7 |
//!
//! So n members that arrive together at one line in the parent's package take `R_I + n·R_R`
//! (Equation 6), with q of them in another one `R_I + s·R_R + q·R_Q` (Equation 7). Members add in
//! the order in which they arrive, one at a time (edges E3 of §2.4), and the parent is blocked for
//! the last fetch only. A parent uses a line of its own for each group (*single-use lines*, §3.1).
//!
//! **Broadcast**: the value is in the flag's line (§4.1), so it costs what a notification does. The
//! k-th group waits for the writes of those before it (§4.1.2, *several groups of threads*).
//! Children do not report back that they have copied: queues and flags are flow control enough.
//!
//! **Reduce**: every member writes a *private* line and its parent reads them one by one (§5.1).
//! That is what messages are, so a reduction costs the same whatever the groups are.
//!
//! **Barrier**: a fan-in and a fan-out, over one tree or over one each.
//!
//! # What groups save
//!
//! Predicted nanoseconds on the paper's machines, one thread on each core (November 2026,
//! `cargo run --release -p corecast-plan --example groups`; nothing here depends on the machine
//! that computes it):
//!
//! | machine, members | way | Smelt | best tree found | flat | groups | bound |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | Sandy Bridge, 16 | fan-out | 516.0 | 481.0 | 164.0 | 164.0 | 164.0 |
//! | Sandy Bridge, 16 | fan-in | 446.0 | 411.0 | 1067.0 | 304.0 | 304.0 |
//! | Xeon Phi, 60 | fan-out | 2609.4 | 2609.4 | 3914.0 | 1712.3 | 1710.5 |
//! | Xeon Phi, 60 | fan-in | 2441.8 | 2441.8 | 14189.9 | 1692.5 | 1690.7 |
//!
//! As in the paper, Sandy Bridge's fan-out is flat (§4.1.1) and the Phi's is a tree of several groups
//! (§3.2). With all SMT siblings the bounds are weaker: they know one near price and one far one.
//!
//! [`latency`], [`timeline`] and [`best_order`] evaluate a tree with groups, [`search()`] looks for a good one, and
//! [`lower_bound`] says how much better any could be.

mod bound;
mod cost;
mod count;
mod moves;
mod search;
mod start;
mod state;

pub(crate) use bound::lower_bound_within;
pub use bound::{fan_in_bound, lower_bound, lower_bound_while};
pub use cost::{
    best_order, fan_in_avail, fan_in_latency, fan_out_avail, latency, timeline, two_ways,
    two_ways_timeline,
};
pub use search::{TwoWays, search, search_barrier};

use crate::tree::{Tree, TreeError};

/// A spanning tree whose members serve groups.
///
/// Invariants, checked once by [`Grouped::from_groups`]: the groups, strung together, are the child
/// lists of a [`Tree`], and no group is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grouped {
    tree: Tree,
    groups: Vec<Vec<Vec<usize>>>,
}

/// Why lists of groups are no tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupedError {
    /// A group without members.
    #[error("group {group} of rank {rank} is empty: leave it out")]
    EmptyGroup {
        /// The parent.
        rank: usize,
        /// The group's place in its list, from 0.
        group: usize,
    },
    /// The members are not a tree's.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

impl Grouped {
    /// The tree in which rank r serves the groups `groups[r]`, in that order.
    ///
    /// The order inside of a group does not matter for a shared line. Only a reduction, which shares no lines, takes
    /// members in this order.
    ///
    /// # Errors
    ///
    /// An empty group, or members that [`Tree::from_children`] refuses.
    ///
    /// # Cost
    ///
    /// Linear in the number of members.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_plan::groups::Grouped;
    ///
    /// let none = Vec::new;
    /// let lists = vec![vec![vec![3], vec![1, 2]], none(), none(), none()];
    /// let flat = Grouped::from_groups(0, lists)?;
    /// assert_eq!(flat.groups(0), [vec![3], vec![1, 2]]);
    /// assert_eq!(flat.tree().children(0), [3, 1, 2]);
    /// # Ok::<(), corecast_plan::groups::GroupedError>(())
    /// ```
    pub fn from_groups(root: usize, groups: Vec<Vec<Vec<usize>>>) -> Result<Self, GroupedError> {
        for (rank, list) in groups.iter().enumerate() {
            if let Some(group) = list.iter().position(Vec::is_empty) {
                return Err(GroupedError::EmptyGroup { rank, group });
            }
        }
        let tree = Tree::from_children(root, groups.iter().map(|list| list.concat()).collect())?;
        Ok(Self { tree, groups })
    }

    /// Makes a tree of groups that are right by construction.
    ///
    /// # Panics
    ///
    /// When the groups are no tree.
    fn by_construction(root: usize, groups: Vec<Vec<Vec<usize>>>) -> Self {
        match Self::from_groups(root, groups) {
            Ok(grouped) => grouped,
            Err(error) => panic!("the search built no tree: {error}"),
        }
    }

    /// Returns the tree with one group, which has all other members.
    ///
    /// # Panics
    ///
    /// When the root is not below n.
    #[must_use]
    pub fn flat(n: usize, root: usize) -> Self {
        let mut groups = vec![Vec::new(); n];
        if n > 1 {
            groups[root] = vec![(0..n).filter(|&r| r != root).collect()];
        }
        Self::by_construction(root, groups)
    }

    /// Number of members, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a tree has at least its root")]
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// The rank without a parent.
    #[must_use]
    pub fn root(&self) -> usize {
        self.tree.root()
    }

    /// Returns the groups that this rank serves, in order.
    ///
    /// # Panics
    ///
    /// When the rank is outside of the team.
    #[must_use]
    pub fn groups(&self, rank: usize) -> &[Vec<usize>] {
        &self.groups[rank]
    }

    /// All lists of groups, by rank.
    #[must_use]
    pub fn group_lists(&self) -> &[Vec<Vec<usize>>] {
        &self.groups
    }

    /// Returns the tree without its groups: each rank's children in the order of service.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the tree as a [`Tree`] when no line is shared; `None` otherwise.
    #[must_use]
    pub fn to_tree(&self) -> Option<Tree> {
        (!self.shares_lines()).then(|| self.tree.clone())
    }

    /// Whether any group has two or more members.
    #[must_use]
    pub fn shares_lines(&self) -> bool {
        self.groups.iter().flatten().any(|group| group.len() > 1)
    }
}

impl From<&Tree> for Grouped {
    /// Makes each child a group of one.
    fn from(tree: &Tree) -> Self {
        let lists = tree.child_lists().iter();
        let groups = lists.map(|list| list.iter().map(|&c| vec![c]).collect());
        Self {
            tree: tree.clone(),
            groups: groups.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_groups_are_refused() {
        let refused = |root, groups, part: &str| {
            let error = Grouped::from_groups(root, groups).unwrap_err().to_string();
            assert!(error.contains(part), "{error:?} lacks {part:?}");
        };
        refused(0, vec![], "no members");
        refused(
            0,
            vec![vec![vec![1], vec![]], vec![]],
            "group 1 of rank 0 is empty",
        );
        refused(
            0,
            vec![vec![vec![1, 1]], vec![]],
            "of rank 0 and again of rank 0",
        );
        refused(0, vec![vec![vec![1]], vec![vec![2]]], "lists child 2");
        refused(
            0,
            vec![vec![vec![1]], vec![], vec![]],
            "rank 2 is not reached",
        );
    }

    #[test]
    fn trees_are_groups_of_one() {
        let lists = vec![vec![2, 1], vec![], vec![3], vec![]];
        let tree = Tree::from_children(0, lists).unwrap();
        let grouped = Grouped::from(&tree);
        assert_eq!(grouped.groups(0), [vec![2], vec![1]]);
        assert_eq!(grouped.to_tree(), Some(tree));
        assert_eq!(Grouped::flat(4, 2).to_tree(), None);
    }
}
