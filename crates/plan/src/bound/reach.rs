//! Nobody is informed before the cheapest way in allows.

use corecast_model::CostModel;

/// The greatest distance from the root, over edges of send + receive (Dijkstra on a full matrix).
pub(super) fn bound(costs: &CostModel, root: usize) -> f64 {
    let n = costs.n();
    let mut distance = vec![f64::INFINITY; n];
    distance[root] = 0.0;
    let mut open: Vec<usize> = (0..n).collect();
    let mut farthest = 0.0;
    while let Some(at) =
        (0..open.len()).min_by(|&a, &b| distance[open[a]].total_cmp(&distance[open[b]]))
    {
        let v = open.swap_remove(at);
        farthest = distance[v];
        for &u in &open {
            let through = farthest + (costs.send(v, u) + costs.receive(v, u));
            distance[u] = distance[u].min(through);
        }
    }
    farthest
}
