//! "Reorder sends: most expensive subtree" (Smelt §3.3.2).

use corecast_model::CostModel;

use crate::cost;
use crate::operation::Operation;
use crate::tree::Tree;

/// Serves the children with the most expensive sub-trees first, from the leaves up; keeps the tree
/// as it was when that would be slower.
///
/// The paper sorts by the latency *below* each child and leaves out what the child pays to receive,
/// so its order can lose; keeping the better of the two makes the step safe on any input.
///
/// # Cost
///
/// O(n log n).
#[must_use]
pub fn reorder(costs: &CostModel, tree: &Tree) -> Tree {
    let sorted = by_subtree(costs, tree);
    let before = cost::latency(costs, tree, Operation::Broadcast);
    if cost::latency(costs, &sorted, Operation::Broadcast) <= before {
        sorted
    } else {
        tree.clone()
    }
}

/// The paper's order, better or not. Equal sub-trees keep their order.
pub(super) fn by_subtree(costs: &CostModel, tree: &Tree) -> Tree {
    let mut lists = tree.child_lists().to_vec();
    let mut below = vec![0.0_f64; tree.len()];
    for &v in tree.order().iter().rev() {
        lists[v].sort_by(|&a, &b| below[b].total_cmp(&below[a]));
        let mut clock = 0.0;
        let mut last = 0.0_f64;
        for &c in &lists[v] {
            clock += costs.send(v, c);
            last = last.max(clock + costs.receive(v, c) + below[c]);
        }
        below[v] = last;
    }
    Tree::by_construction(tree.root(), lists)
}
