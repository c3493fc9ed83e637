//! A tree that is there at once: what a search that ends before its first phase has to offer.
//!
//! It looks at some costs for each member, and not at those of all pairs, of which there are millions in a team of
//! thousands.

use corecast_model::CostModel;

use crate::cost;
use crate::operation::Operation;
use crate::order::best_order;
use crate::patterns::{fibonacci, knomial};
use crate::tree::Tree;

/// Returns the fastest of a few well known trees, laid over the members in order of their NUMA nodes: a node's members
/// are then mostly served by one another. Without a root it is rank 0.
///
/// # Cost
///
/// O(n log n).
pub(crate) fn tree(costs: &CostModel, operation: Operation, root: Option<usize>) -> Tree {
    let (n, root) = (costs.n(), root.unwrap_or(0));
    let order = by_node(costs.numa_nodes(), root);
    let shapes = [knomial(n, 0, 2), fibonacci(n, 0), knomial(n, 0, 4)];
    let rated = shapes.map(|shape| {
        let mut lists = vec![Vec::new(); n];
        for (place, list) in shape.child_lists().iter().enumerate() {
            lists[order[place]] = list.iter().map(|&child| order[child]).collect();
        }
        let tree = Tree::by_construction(root, lists);
        let tree = best_order(costs, &tree, operation);
        (cost::latency(costs, &tree, operation), tree)
    });
    let [first, others @ ..] = rated;
    let best = others.into_iter().fold(
        first,
        |best, next| if next.0 < best.0 { next } else { best },
    );
    best.1
}

/// Returns the ranks in the order of their NUMA nodes, the root and its node first.
fn by_node(numa: &[u32], root: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..numa.len()).collect();
    order.sort_by_key(|&r| (r != root, numa[r] != numa[root], numa[r], r));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_root_and_keeps_to_nodes() {
        let spec = "package:4 core:8 send=10,1000 receive=30,3000";
        let machine = corecast_model::synthetic(spec).unwrap();
        let costs = machine.costs();
        for operation in [Operation::Broadcast, Operation::Reduce, Operation::Barrier] {
            for root in [None, Some(0), Some(13), Some(31)] {
                let tree = tree(costs, operation, root);
                assert_eq!((tree.len(), tree.root()), (32, root.unwrap_or(0)));
                let crosses = |&v: &usize| {
                    let parent = tree.parent(v);
                    parent.is_some_and(|p| !costs.same_numa_node(p, v))
                };
                assert!((0..32).filter(crosses).count() <= 5);
            }
        }
    }
}
