//! The best order of the children of a given tree.
//!
//! For a broadcast a member should serve its children in the order of decreasing `receive(v, c) +
//! below(c)`, where `below(c)` is the latency of the child's sub-tree: the child that needs longest
//! once the line is written comes first. In any other order, swapping two neighbours that are out
//! of order does not let either finish later than the later one did, whatever their send costs (an
//! exchange argument), so this order is optimal from the leaves up. Smelt's own reordering (§3.3.2)
//! leaves `receive` out and can lose.
//!
//! A reduction is a broadcast with swapped roles: a parent should take its children in the order in
//! which their messages become ready.

use corecast_model::CostModel;

use crate::operation::Operation;
use crate::tree::Tree;

/// Returns the tree with every child list in the order that gives the least latency.
///
/// For a barrier the lists serve both directions; they are put in the broadcast's order, which is
/// optimal for the fan-out alone.
///
/// # Panics
///
/// When tree and model have different numbers of members.
///
/// # Cost
///
/// O(n log n).
///
/// # Examples
///
/// ```
/// use corecast_plan::{Operation, Tree, order::best_order};
///
/// let machine = corecast_model::synthetic("package:2 core:2 send=10 receive=20,90").unwrap();
/// let tree = Tree::from_children(0, vec![vec![1, 2, 3], vec![], vec![], vec![]]).unwrap();
/// // The near child is served last: it needs least time afterwards.
/// assert_eq!(best_order(machine.costs(), &tree, Operation::Broadcast).children(0), [2, 3, 1]);
/// ```
#[must_use]
pub fn best_order(costs: &CostModel, tree: &Tree, operation: Operation) -> Tree {
    assert_eq!(
        costs.n(),
        tree.len(),
        "the tree and the cost model are of different teams"
    );
    match operation {
        Operation::Broadcast | Operation::Barrier => {
            sorted(tree, |v, c| costs.send(v, c), |v, c| costs.receive(v, c))
        }
        Operation::Reduce => {
            sorted(tree, |p, c| costs.receive(c, p), |p, c| costs.send(c, p)).reversed()
        }
    }
}

fn sorted(
    tree: &Tree,
    send: impl Fn(usize, usize) -> f64,
    receive: impl Fn(usize, usize) -> f64,
) -> Tree {
    let mut lists = tree.child_lists().to_vec();
    let mut below = vec![0.0_f64; tree.len()];
    for &v in tree.order().iter().rev() {
        let tail = |c: usize| receive(v, c) + below[c];
        lists[v].sort_by(|&a, &b| tail(b).total_cmp(&tail(a)));
        let mut clock = 0.0;
        let mut last = 0.0_f64;
        for &c in &lists[v] {
            clock += send(v, c);
            last = last.max(clock + tail(c));
        }
        below[v] = last;
    }
    Tree::by_construction(tree.root(), lists)
}
