//! Trees with groups on one case: bound ≤ optimum ≤ search, and every way to cost one agrees.

use corecast_model::{CostModel, Lines};
use corecast_plan::groups::{
    Grouped, best_order, fan_out_avail, latency, lower_bound, search, search_barrier, timeline,
};
use corecast_plan::search::{SearchProgress, construct};
use corecast_plan::{Operation, cost};

use crate::case::Case;
use crate::limits::ROUNDING;
use crate::optima::over_sets;

/// Teams up to this size are compared with the exact optimum.
const EXACT_MAX: usize = 6;

/// Searches for trees with groups, where the case has shared lines; `least` is what [`least`] says.
///
/// # Panics
///
/// When a search gives less than it got, a bound is above the optimum or a tree below it.
pub(crate) fn all(case: &Case, least: Option<&[f64]>) {
    let costs = &case.costs;
    if costs.lines().is_none() {
        return;
    }
    let (root, free) = (case.search_root(), case.search_root().is_none());
    let bound = lower_bound(costs, case.operation, root);
    let start = construct(costs, root);
    let given = cost::latency(costs, &start, case.operation);
    assert_eq!(
        latency(costs, &Grouped::from(&start), case.operation),
        given
    );
    let mut seen = case.watcher();
    let watch = &mut |_: &SearchProgress| seen();
    let effort = case.effort();
    let found = search(costs, case.operation, free, &start, bound, effort, watch);
    assert!(free || Some(found.root()) == root, "{case:?}: {found:?}");
    let mut best = agreed(case, &found);
    assert!(best <= given, "{case:?}: {found:?} from {given}");
    if case.operation == Operation::Barrier {
        let fan_in = start.reversed();
        let both = search_barrier(costs, free, &fan_in, &start, bound, effort, watch);
        assert_eq!(both.fan_in.root(), both.fan_out.root());
        assert!(free || Some(both.fan_in.root()) == root);
        let latency = both.latency(costs);
        assert!(latency <= given * (1.0 + ROUNDING), "{case:?}: {both:?}");
        best = best.min(latency);
    }
    assert!(
        bound >= 0.0 && bound <= best * (1.0 + ROUNDING),
        "{case:?}: bound {bound}, found {best}"
    );
    if let Some(least) = least {
        for (root, &least) in least.iter().enumerate() {
            let bound = lower_bound(costs, Operation::Broadcast, Some(root));
            let sound = bound <= least * (1.0 + ROUNDING);
            assert!(
                sound,
                "{case:?} root {root}: bound {bound}, optimum {least}"
            );
        }
        let any = least.iter().copied().fold(f64::INFINITY, f64::min);
        let sound = bound <= root.map_or(any, |r| least[r]) * (1.0 + ROUNDING)
            && best >= least[found.root()] * (1.0 - ROUNDING);
        assert!(sound, "{case:?}: {found:?}: {bound} to {best}, {least:?}");
    }
}

/// For each root the least latency of a broadcast over a tree with groups; `None` where the case is
/// another one or too large.
pub(crate) fn least(case: &Case) -> Option<Vec<f64>> {
    let lines = case.costs.lines()?;
    let is_small = case.operation == Operation::Broadcast && case.costs.n() <= EXACT_MAX;
    is_small.then(|| optimum(&case.costs, lines))
}

/// The latency of a tree, which all ways to find it agree on.
fn agreed(case: &Case, found: &Grouped) -> f64 {
    let (costs, operation) = (&case.costs, case.operation);
    let latency = latency(costs, found, operation);
    let near = |other: f64| (other - latency).abs() <= ROUNDING * latency;
    let drawn = timeline(costs, found, operation);
    assert!(near(drawn.latency), "{case:?}: {found:?}: {drawn:?}");
    if operation == Operation::Broadcast {
        let last = fan_out_avail(costs, found).into_iter().fold(0.0, f64::max);
        assert!(near(last), "{case:?}: {found:?}: {last}");
        let ordered = best_order(costs, found, operation);
        let ordered = corecast_plan::groups::latency(costs, &ordered, operation);
        assert!(ordered <= latency * (1.0 + ROUNDING), "{case:?}: {found:?}");
    }
    latency
}

/// For each root the latency of the best broadcast over a tree with groups.
///
/// A holder v serves some group of a set first; each of the rest is left to a member of that group,
/// or to v.
fn optimum(costs: &CostModel, lines: &Lines) -> Vec<f64> {
    over_sets(costs.n(), |best, v, group, rest| {
        served(costs, lines, best, v, group, rest)
    })
}

/// The least time when v serves `group` first and the group and v share out the rest.
fn served(
    costs: &CostModel,
    lines: &Lines,
    best: &[Vec<f64>],
    v: usize,
    group: usize,
    rest: usize,
) -> f64 {
    let members: Vec<usize> = (0..costs.n()).filter(|m| group >> m & 1 == 1).collect();
    let g = members.len();
    let (blocked, fetch): (f64, Vec<f64>) = match members[..] {
        [c] => (costs.send(v, c), vec![costs.receive(v, c)]),
        _ => {
            let fetch = members.iter().map(|&j| lines.fetch(v, j, g));
            (lines.write(v, &members), fetch.collect())
        }
    };
    // The least time in which the members from the k-th on, and v, inform a part of the rest.
    let mut from = best[v].clone();
    for (&member, fetch) in members.iter().zip(fetch) {
        let mut next = vec![f64::INFINITY; from.len()];
        let mut set = rest;
        loop {
            let mut part = set;
            loop {
                let time = (fetch + best[member][part]).max(from[set & !part]);
                next[set] = next[set].min(time);
                if part == 0 {
                    break;
                }
                part = (part - 1) & set;
            }
            if set == 0 {
                break;
            }
            set = (set - 1) & rest;
        }
        from = next;
    }
    blocked + from[rest]
}
