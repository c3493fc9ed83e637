//! Functions that all optimisers use: the bounds of a candidate, and the comparison of two
//! candidates.

use corecast_plan::groups::Grouped;
use corecast_sim::symbolic::{Analysis, Bounds, CostRules, Graph, Placement, Stuck};
use std::cmp::Ordering;

/// Both bounds of a graph.
pub(super) fn bounds(graph: &Graph, placement: &Placement, rules: &CostRules) -> Bounds {
    Analysis::new(graph, placement, rules).bounds()
}

/// The graph of an algorithm that ends on any team.
///
/// # Panics
///
/// When the kernel has no memory for stacks.
pub(super) fn ended(graph: Result<Graph, Stuck>) -> Graph {
    match graph {
        Ok(graph) => graph,
        Err(stuck) => panic!("every candidate ends: {stuck}"),
    }
}

/// Compares two bounds. The better one is less: it has the lower T_min, or the lower T_max if T_min
/// is equal.
pub(super) fn compare(a: Bounds, b: Bounds) -> Ordering {
    let close = (a.t_min - b.t_min).abs() <= 1e-9 * a.t_min;
    match close {
        true => a.t_max.total_cmp(&b.t_max),
        false => a.t_min.total_cmp(&b.t_min),
    }
}

/// The tree from rank 0 with these groups of each rank.
pub(super) fn grouped(lists: Vec<Vec<Vec<usize>>>) -> Grouped {
    match Grouped::from_groups(0, lists) {
        Ok(grouped) => grouped,
        Err(error) => panic!("levels are a tree: {error}"),
    }
}
