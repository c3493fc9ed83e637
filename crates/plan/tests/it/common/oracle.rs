//! Checks any lower bound against the exact optimum of thousands of small teams.
//!
//! The optimum is found by [`super::optima`]; that it is the optimum is tested against enumerations
//! of all trees, see `bounds.rs` and `adversarial.rs`.

use corecast_model::CostModel;
use corecast_plan::Operation;

use super::adversary::{KINDS, costs};
use super::optima;

/// How close a bound is to the optimum.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// The number of bounds that were checked.
    pub(crate) tried: usize,
    /// The number of bounds that equal the optimum.
    pub(crate) tight: usize,
    /// Mean of bound / optimum.
    pub(crate) mean: f64,
}

/// Checks for every n up to `n_max`, every kind and `seeds` seeds of each that no bound is above
/// the optimum of its operation. A bound for a root is compared with that root's optimum, and one
/// without a root with the optimum over all roots.
///
/// # Errors
///
/// The first case in which a bound is above the optimum.
pub(crate) fn oracle(
    n_max: usize,
    seeds: u64,
    bound: impl Fn(&CostModel, Operation, Option<usize>) -> f64,
) -> Result<Verdict, String> {
    let (mut tried, mut tight, mut sum) = (0, 0, 0.0);
    for n in 1..=n_max {
        for (name, make) in KINDS {
            for seed in 0..seeds {
                let costs = costs(make, n, seed);
                let root = seed as usize % n;
                for (operation, root, least) in truth(&costs, root) {
                    let found = bound(&costs, operation, root);
                    if !(0.0..=least * (1.0 + 1e-9)).contains(&found) {
                        let what = format!("n {n}, {name}, seed {seed}, {operation}, {root:?}");
                        return Err(format!("{what}: bound {found}, optimum {least}"));
                    }
                    tried += 1;
                    tight += usize::from(found >= least * (1.0 - 1e-9));
                    sum += if least > 0.0 { found / least } else { 1.0 };
                }
            }
        }
    }
    let mean = sum / tried as f64;
    Ok(Verdict { tried, tight, mean })
}

/// Makes a bound on broadcasts one on all operations: a reduction is a broadcast on mirrored costs,
/// and a barrier takes both ways one after the other.
pub(crate) fn both_ways(
    broadcast: impl Fn(&CostModel, Option<usize>) -> f64,
) -> impl Fn(&CostModel, Operation, Option<usize>) -> f64 {
    move |costs, operation, root| match operation {
        Operation::Broadcast => broadcast(costs, root),
        Operation::Reduce => broadcast(&costs.mirrored(), root),
        Operation::Barrier => broadcast(costs, root) + broadcast(&costs.mirrored(), root),
    }
}

/// The least latency of each operation with this root, and over all roots.
///
/// A barrier may use two trees, for fan-in and fan-out, with one root.
pub(crate) fn truth(costs: &CostModel, root: usize) -> Vec<(Operation, Option<usize>, f64)> {
    let (outward, inward) = (optima(costs), optima(&costs.mirrored()));
    let both = outward
        .iter()
        .zip(&inward)
        .map(|(outward, inward)| outward + inward)
        .collect();
    let all = [
        (Operation::Broadcast, outward),
        (Operation::Reduce, inward),
        (Operation::Barrier, both),
    ];
    let cases = all.into_iter().flat_map(|(operation, least)| {
        let any = least.iter().copied().fold(f64::INFINITY, f64::min);
        [(operation, Some(root), least[root]), (operation, None, any)]
    });
    cases.collect()
}
