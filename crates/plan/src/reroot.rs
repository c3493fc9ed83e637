//! A tree for an operation whose root is another rank: re-hung at that rank, or above a copy (NUMA clusters §3).
//!
//! ```text
//!    planned        re-hung at 3     copied from 3
//!      0                 3                3
//!    ┌─┴─┐             ┌─┴─┐            ┌─┴─┐
//!    1   2             1   4            0   4
//!    │                 │              ┌─┴─┐
//!    3                 0              1   2
//!    │                 │
//!    4                 2
//! ```
//!
//! Re-hung, a tree has the same edges. With a copy to its root it has one other edge, and the root of the operation
//! still serves its own children.

use corecast_model::CostModel;

use crate::cost;
use crate::operation::Operation;
use crate::tree::Tree;

/// Returns the tree with the same edges from `root`. A rank serves the part that was above it first, which is the
/// larger one; a reduction takes that part last.
///
/// # Panics
///
/// When the rank is outside of the team. All functions of this module panic then, too.
///
/// # Cost
///
/// Linear in the number of members.
///
/// # Examples
///
/// ```
/// use corecast_plan::{Operation, Tree, reroot};
///
/// let tree = Tree::from_children(0, vec![vec![1, 2], vec![3], vec![], vec![]])?;
/// let rehung = reroot::rehung(&tree, 1, Operation::Broadcast);
/// assert_eq!((rehung.root(), rehung.children(1)), (1, &[0, 3][..]));
/// # Ok::<(), corecast_plan::TreeError>(())
/// ```
#[must_use]
pub fn rehung(tree: &Tree, root: usize, operation: Operation) -> Tree {
    let mut lists = tree.child_lists().to_vec();
    let mut below = root;
    for above in tree.ancestors(root) {
        lists[above].retain(|&child| child != below);
        serve(&mut lists[below], above, operation);
        below = above;
    }
    Tree::by_construction(root, lists)
}

/// Returns the tree in which `root` comes above the root of `tree`, and no longer where it was.
///
/// # Cost
///
/// Linear in the number of members.
#[must_use]
pub fn copied(tree: &Tree, root: usize, operation: Operation) -> Tree {
    let mut lists = tree.child_lists().to_vec();
    if let Some(parent) = tree.parent(root) {
        lists[parent].retain(|&child| child != root);
        serve(&mut lists[root], tree.root(), operation);
    }
    Tree::by_construction(root, lists)
}

/// Adds the rank behind which lies the larger part of the tree.
fn serve(list: &mut Vec<usize>, rank: usize, operation: Operation) {
    let at = match operation {
        Operation::Reduce => list.len(),
        Operation::Broadcast | Operation::Barrier => 0,
    };
    list.insert(at, rank);
}

/// The latencies of an operation over a tree with another root, in the model's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OtherRoot {
    /// Over the tree re-hung at the operation's root.
    pub rehung: f64,
    /// With a copy between the operation's root and the tree's.
    pub copied: f64,
}

impl OtherRoot {
    /// Predicts both.
    ///
    /// # Cost
    ///
    /// Linear in the number of members.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_plan::{Operation, patterns, reroot::OtherRoot};
    ///
    /// let machine = corecast_model::synthetic("core:15 send=10 receive=30").unwrap();
    /// // The last rank is a leaf, three levels below the root.
    /// let tree = patterns::knomial(15, 0, 2);
    /// let other = OtherRoot::new(machine.costs(), &tree, Operation::Broadcast, 14);
    /// assert!(other.copies() && other.copied < other.rehung);
    /// ```
    #[must_use]
    pub fn new(costs: &CostModel, tree: &Tree, operation: Operation, root: usize) -> Self {
        let latency = |tree| cost::latency(costs, &tree, operation);
        Self {
            rehung: latency(rehung(tree, root, operation)),
            copied: latency(copied(tree, root, operation)),
        }
    }

    /// Whether the copy is faster.
    #[must_use]
    pub fn copies(&self) -> bool {
        self.copied < self.rehung
    }
}
