//! What all optimisers share: the bounds of a candidate, and which of two candidates is better.

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

/// Which of two bounds is better.
pub(super) fn compare(a: Bounds, b: Bounds) -> Ordering {
    let close = (a.t_min - b.t_min).abs() <= 1e-9 * a.t_min;
    match close {
        true => a.t_max.total_cmp(&b.t_max),
        false => a.t_min.total_cmp(&b.t_min),
    }
}

/// The tree of these lists.
pub(super) fn grouped(lists: Vec<Vec<Vec<usize>>>) -> Grouped {
    match Grouped::from_groups(0, lists) {
        Ok(grouped) => grouped,
        Err(error) => panic!("levels are a tree: {error}"),
    }
}
