//! The cluster tree: binary between NUMA nodes, sequential inside (Smelt §2.4, after HMPI).

use crate::tree::Tree;
use std::collections::BTreeMap;

/// A leader for each NUMA node; a binary tree over the leaders; each leader serves the leaders
/// below it first and then the other members of its node in rank order.
///
/// `numa[r]` is the NUMA node of rank r. The root leads its own node and is the top of the binary
/// tree; the other nodes follow in the order of their lowest ranks, which lead them.
///
/// ```text
///    NUMA nodes {0,1,2} {3,4,5} {6,7,8}, root 0
///
///             0
///          ╱ ╱ ╲ ╲
///         3 6   1 2
///        ╱│ │╲
///       4 5 7 8
/// ```
#[must_use]
pub fn cluster(numa: &[u32], root: usize) -> Tree {
    let n = numa.len();
    assert!(root < n, "root {root} is outside of a team of {n}");
    let mut leaders = vec![root];
    let mut leader_of = BTreeMap::new();
    leader_of.insert(numa[root], root);
    for (rank, &node) in numa.iter().enumerate() {
        leader_of.entry(node).or_insert_with(|| {
            leaders.push(rank);
            rank
        });
    }

    let mut children = vec![Vec::new(); n];
    for (v, &leader) in leaders.iter().enumerate() {
        children[leader] = (2 * v + 1..=2 * v + 2)
            .filter_map(|c| leaders.get(c))
            .copied()
            .collect();
    }
    for (rank, node) in numa.iter().enumerate() {
        let leader = leader_of[node];
        if rank != leader {
            children[leader].push(rank);
        }
    }
    Tree::by_construction(root, children)
}
