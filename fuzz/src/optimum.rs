//! The exact optimum of small teams, by dynamic programming over sets of members.

use corecast_model::CostModel;

/// For each root the latency of the best broadcast tree.
///
/// `best[v][S]` is the least time in which v informs all of S: it serves some c of S first; c then
/// informs a part of S while v informs the rest.
///
/// # Cost
///
/// n · 3ⁿ steps for each of n holders: for n up to about 8.
pub(crate) fn broadcasts(costs: &CostModel) -> Vec<f64> {
    let n = costs.n();
    let mut best = vec![vec![0.0_f64; 1 << n]; n];
    for set in 1..1_usize << n {
        for v in (0..n).filter(|v| set >> v & 1 == 0) {
            let mut least = f64::INFINITY;
            let mut part = set;
            while part > 0 {
                let rest = best[v][set & !part];
                for c in (0..n).filter(|c| part >> c & 1 == 1) {
                    let below = costs.receive(v, c) + best[c][part & !(1 << c)];
                    least = least.min(costs.send(v, c) + below.max(rest));
                }
                part = (part - 1) & set;
            }
            best[v][set] = least;
        }
    }
    let all = (1 << n) - 1;
    (0..n).map(|root| best[root][all & !(1 << root)]).collect()
}
