//! The bad tree: a minimum spanning tree on the inverse costs (Smelt §2.4).

use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::mst::prim;
use crate::pace::{self, Pace};
use crate::tree::Tree;

/// Prim's tree on inverse costs: the dearest message is always added next.
///
/// A worst case to compare with: it maximises redundant messages between NUMA nodes. See
/// [`mst`](super::mst()) for `degree_max`, order and cost.
///
/// ```text
///    two NUMA nodes {0,1,2} and {3,4,5}: every message crosses
///
///      0 ─► 3,4,5      3 ─► 1,2
/// ```
#[must_use]
pub fn bad(costs: &CostModel, root: usize, degree_max: usize) -> Tree {
    pace::unwatched(|pace| bad_within(costs, root, degree_max, pace))
}

/// Returns [`bad`], unless a watcher ends the search.
pub(crate) fn bad_within(
    costs: &CostModel,
    root: usize,
    degree_max: usize,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Tree> {
    // Ordering by −w is ordering by 1/w, and has no trouble with costs of 0.
    let weight = |i, j| -(costs.send(i, j) + costs.receive(i, j));
    prim(costs.n(), root, degree_max, weight, pace)
}
