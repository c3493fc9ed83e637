//! The bound by reach: nobody is informed before the cheapest way from the root allows it.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use crate::pace::Pace;

/// Returns the greatest distance of a member from the root, over edges of send + receive.
pub(super) fn bound(costs: &CostModel, root: usize, pace: &mut Pace<'_>) -> ControlFlow<(), f64> {
    let step = |v, u| costs.send(v, u) + costs.receive(v, u);
    farthest(costs.n(), root, step, pace)
}

/// The greatest of n members' distances from the root (Dijkstra on a full matrix); `step` is the
/// length of the step from one member to another.
///
/// # Cost
///
/// O(n²), each step asked for once.
pub(crate) fn farthest(
    n: usize,
    root: usize,
    step: impl Fn(usize, usize) -> f64,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), f64> {
    let mut distance = vec![f64::INFINITY; n];
    distance[root] = 0.0;
    let mut open: Vec<usize> = (0..n).collect();
    let mut farthest = 0.0;
    while let Some(at) =
        (0..open.len()).min_by(|&a, &b| distance[open[a]].total_cmp(&distance[open[b]]))
    {
        pace.spend(4 * open.len() as u64)?;
        let v = open.swap_remove(at);
        farthest = distance[v];
        for &u in &open {
            distance[u] = distance[u].min(farthest + step(v, u));
        }
    }
    ControlFlow::Continue(farthest)
}
