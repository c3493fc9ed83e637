//! The Fibonacci tree: two children each, the first with more below it (Smelt §2.4, after Bruck,
//! Cypher and Ho, *Multiple message broadcasting with generalized Fibonacci trees*, 1992).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::turned;
use crate::tree::Tree;

/// The Fibonacci tree, for any number of members.
///
/// A member that has the message at time t serves two children: the first has it at t + 1, the
/// second at t + 2. Positions are numbered in the order in which they get the message, ties by
/// their parents' positions; the tree of n members are the first n. With the members of time h or
/// earlier this is the Fibonacci tree of order h, whose left sub-tree has order h − 1 and whose
/// right one has order h − 2.
///
/// ```text
///    order 3, 7 members      time
///            0                0
///          ╱   ╲
///         1     2             1, 2
///        ╱ ╲    │
///       3   4   6             2, 3, 3
///       │
///       5                     3
/// ```
///
/// # Cost
///
/// Depth about log_φ n = 1.44 · log₂ n.
#[must_use]
pub fn fibonacci(n: usize, root: usize) -> Tree {
    let mut children = vec![Vec::new(); n];
    // Open places by (time, parent); each parent has two, at different times.
    let mut places = BinaryHeap::from([Reverse((1, 0)), Reverse((2, 0))]);
    for v in 1..n {
        let Some(Reverse((time, parent))) = places.pop() else {
            break;
        };
        children[parent].push(v);
        places.push(Reverse((time + 1, v)));
        places.push(Reverse((time + 2, v)));
    }
    turned(n, root, |v| children[v].clone())
}
