//! A validated tree over the ranks of a team.
//!
//! ```text
//!        2            root 2, children(2) = [0, 3]: rank 2 serves rank 0 first
//!       ╱ ╲
//!      0   3
//!      │
//!      1
//! ```
//!
//! Invariants, checked once by [`Tree::from_children`]:
//!
//! 1. every rank below [`Tree::len`] is in the tree exactly once;
//! 2. every rank but the root has one parent, and following parents leads to the root;
//! 3. [`Tree::order`] lists parents before their children, so that all walks are loops: a chain of
//!    any length overflows no stack.

mod error;

pub use error::TreeError;

/// A spanning tree whose child lists are ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    root: usize,
    children: Vec<Vec<usize>>,
    parent: Vec<Option<usize>>,
    order: Vec<usize>,
}

impl Tree {
    /// Makes the tree in which rank r serves `children[r]`, in that order.
    ///
    /// # Errors
    ///
    /// No members; the root or a child outside of the team; a rank listed twice; the root listed as
    /// a child; a rank that is not reached, alone or on a cycle.
    ///
    /// # Cost
    ///
    /// Linear in the number of members.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_plan::Tree;
    ///
    /// let tree = Tree::from_children(2, vec![vec![1], vec![], vec![0, 3], vec![]])?;
    /// assert_eq!(tree.parent(1), Some(0));
    /// assert_eq!(tree.children(2), [0, 3]);
    /// assert_eq!(tree.depth(), 2);
    /// # Ok::<(), corecast_plan::TreeError>(())
    /// ```
    pub fn from_children(root: usize, children: Vec<Vec<usize>>) -> Result<Self, TreeError> {
        let n = children.len();
        if n == 0 {
            return Err(TreeError::Empty);
        }
        let last = n - 1;
        if root > last {
            return Err(TreeError::RootOutside { root, last });
        }
        let mut parent: Vec<Option<usize>> = vec![None; n];
        for (v, list) in children.iter().enumerate() {
            for &child in list {
                if child > last {
                    return Err(TreeError::ChildOutside {
                        parent: v,
                        child,
                        last,
                    });
                }
                if child == root {
                    return Err(TreeError::RootIsChild { parent: v, root });
                }
                if let Some(first) = parent[child].replace(v) {
                    return Err(TreeError::Duplicate {
                        child,
                        first,
                        second: v,
                    });
                }
            }
        }
        let mut order = Vec::with_capacity(n);
        order.push(root);
        let mut next = 0;
        while next < order.len() {
            order.extend_from_slice(&children[order[next]]);
            next += 1;
        }
        if order.len() < n {
            // The rank has one parent at most and is not reached from the root: either no rank
            // lists it, or its ancestors form a cycle.
            let orphan = (0..n).find(|&v| v != root && parent[v].is_none());
            if let Some(rank) = orphan {
                return Err(TreeError::Unreached { rank, root });
            }
            let mut reached = vec![false; n];
            order.iter().for_each(|&v| reached[v] = true);
            let rank = reached.iter().position(|&r| !r).unwrap_or(root);
            return Err(TreeError::Cycle { rank, root });
        }
        Ok(Self {
            root,
            children,
            parent,
            order,
        })
    }

    /// Makes the tree of a pattern, whose lists are right by construction.
    ///
    /// # Panics
    ///
    /// When the lists are no tree.
    pub(crate) fn by_construction(root: usize, children: Vec<Vec<usize>>) -> Self {
        match Self::from_children(root, children) {
            Ok(tree) => tree,
            Err(error) => panic!("a pattern built no tree: {error}"),
        }
    }

    /// Number of members, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a tree has at least its root")]
    pub fn len(&self) -> usize {
        self.children.len()
    }

    /// Returns the rank without a parent.
    #[must_use]
    pub fn root(&self) -> usize {
        self.root
    }

    /// Returns the rank that serves this one; `None` for the root.
    ///
    /// # Panics
    ///
    /// When the rank is outside of the team. All methods that take a rank panic then, too.
    #[must_use]
    pub fn parent(&self, rank: usize) -> Option<usize> {
        self.parent[rank]
    }

    /// Returns the ranks that this one serves, in order.
    #[must_use]
    pub fn children(&self, rank: usize) -> &[usize] {
        &self.children[rank]
    }

    /// All child lists, by rank.
    #[must_use]
    pub fn child_lists(&self) -> &[Vec<usize>] {
        &self.children
    }

    /// Returns all members in breadth-first order: parents before children, siblings in their
    /// order.
    #[must_use]
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Whether this rank serves nobody.
    #[must_use]
    pub fn is_leaf(&self, rank: usize) -> bool {
        self.children[rank].is_empty()
    }

    /// Returns for each rank the number of edges between the root and it.
    #[must_use]
    pub fn depths(&self) -> Vec<usize> {
        let mut depth = vec![0; self.len()];
        for &v in &self.order {
            for &c in &self.children[v] {
                depth[c] = depth[v] + 1;
            }
        }
        depth
    }

    /// Returns the greatest number of edges between the root and a leaf; 0 for a single member.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depths().into_iter().max().unwrap_or(0)
    }

    /// Returns for each rank the number of members of its sub-tree, itself included.
    #[must_use]
    pub fn subtree_sizes(&self) -> Vec<usize> {
        let mut size = vec![1; self.len()];
        for &v in self.order.iter().rev() {
            if let Some(p) = self.parent[v] {
                size[p] += size[v];
            }
        }
        size
    }

    /// Returns the sub-tree of a rank in depth-first order, itself first, siblings in their order.
    ///
    /// # Cost
    ///
    /// Linear in the number of ranks taken; the stack is on the heap.
    pub fn subtree(&self, rank: usize) -> impl Iterator<Item = usize> {
        let mut stack = vec![rank];
        std::iter::from_fn(move || {
            let v = stack.pop()?;
            stack.extend(self.children[v].iter().rev());
            Some(v)
        })
    }

    /// Returns the ancestors of a rank, its parent first and the root last; empty for the root.
    pub fn ancestors(&self, rank: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parent[rank], |&v| self.parent[v])
    }

    /// Returns the tree with every child list reversed: the order of a reduction that mirrors a
    /// broadcast, see [`crate::cost`].
    #[must_use]
    pub fn reversed(&self) -> Self {
        let mut children = self.children.clone();
        children.iter_mut().for_each(|list| list.reverse());
        Self::by_construction(self.root, children)
    }
}

#[cfg(test)]
mod tests;
