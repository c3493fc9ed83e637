//! "Reorder sends: most expensive subtree" (Smelt §3.3.2).

use corecast_model::CostModel;

use super::edges::Edges;
use crate::tree::Tree;

/// Serves the children with the most expensive sub-trees first, from the leaves up; keeps the tree
/// as it was when that would be slower.
///
/// The paper sorts by the latency *below* each child and leaves out what the child pays to receive,
/// so its order can lose ([`crate::order::best_order`] cannot); keeping the better of the two makes
/// the step safe on any input.
///
/// # Panics
///
/// When tree and model have different numbers of members.
///
/// # Cost
///
/// O(n log n).
#[must_use]
pub fn reorder(costs: &CostModel, tree: &Tree) -> Tree {
    assert_eq!(
        costs.n(),
        tree.len(),
        "the tree and the cost model are of different teams"
    );
    Edges::of(costs, tree).reordered(tree.clone())
}
