//! The exact optimum of small teams, by dynamic programming over sets of members: an oracle that
//! shares no code with the planner. The fuzzer has this file too.

use corecast_model::CostModel;

/// Returns for each root the least time in which it can inform all others.
///
/// A holder v informs a set by serving a part of it first. `served` gets the best times so far (by
/// holder, then by set), v, the part that v's first service informs, and the rest of the set, and
/// returns the least time of such a start.
///
/// # Cost
///
/// 3ⁿ calls for each of n holders, which is feasible for n up to about 8.
pub(crate) fn over_sets(
    n: usize,
    served: impl Fn(&[Vec<f64>], usize, usize, usize) -> f64,
) -> Vec<f64> {
    let mut best = vec![vec![0.0_f64; 1 << n]; n];
    for set in 1..1_usize << n {
        for v in (0..n).filter(|v| set >> v & 1 == 0) {
            let mut least = f64::INFINITY;
            let mut first = set;
            while first > 0 {
                least = least.min(served(&best, v, first, set & !first));
                first = (first - 1) & set;
            }
            best[v][set] = least;
        }
    }
    let all = (1 << n) - 1;
    (0..n).map(|root| best[root][all & !(1 << root)]).collect()
}

/// Returns for each root the latency of the best broadcast tree: v serves some c, and c then
/// informs the others of its part while v informs the rest.
pub(crate) fn optima(costs: &CostModel) -> Vec<f64> {
    let n = costs.n();
    over_sets(n, |best, v, part, rest| {
        let children = (0..n).filter(|c| part >> c & 1 == 1);
        let times = children.map(|c| {
            let below = costs.receive(v, c) + best[c][part & !(1 << c)];
            costs.send(v, c) + below.max(best[v][rest])
        });
        times.fold(f64::INFINITY, f64::min)
    })
}
