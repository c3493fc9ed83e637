//! Proofs on one case, cut short and complete: bound ≤ optimum ≤ tree.

use corecast_model::CostModel;
use corecast_plan::exact::{Limits, prove};
use corecast_plan::search::construct;
use corecast_plan::{Operation, Pattern, Tree, cost, hierarchy};

use crate::case::Case;
use crate::limits::{EXACT_MAX, LEVELS_WORK, PROVED, ROUNDING};

/// Splits and bytes of proofs that are cut short; see [`complete`] for the others.
const WORK: [u64; 4] = [0, 1, 300, 10_000];
const MEMORY: [usize; 3] = [0, 4 << 10, 64 << 20];

/// Proves and certifies a broadcast over these costs, whose least latency by root is `least`.
///
/// # Panics
///
/// When a bound is above the optimum or a tree below it, and when a complete proof is neither.
pub(crate) fn all(case: &Case, costs: &CostModel, least: Option<&[f64]>) {
    let root = case.search_root();
    let least = least.map(|least| match root {
        Some(root) => least[root],
        None => least.iter().copied().fold(f64::INFINITY, f64::min),
    });
    certified(case, costs, root, least);
    let upper = upper(case, costs);
    cut_short(case, costs, &upper, least);
    if let Some(least) = least.filter(|_| case.choice.is_multiple_of(2)) {
        complete(case, costs, &upper, least);
    }
}

fn certified(case: &Case, costs: &CostModel, root: Option<usize>, least: Option<f64>) {
    let Some(found) = hierarchy::certified(costs, root, LEVELS_WORK) else {
        return;
    };
    let latency = cost::latency(costs, &found.tree, Operation::Broadcast);
    assert_eq!(latency, found.latency, "{case:?}: {found:?}");
    assert!(root.is_none_or(|root| root == found.tree.root()));
    between(case, found.lower_bound, least, latency);
}

/// A tree to be beaten, good or bad.
fn upper(case: &Case, costs: &CostModel) -> Tree {
    let root = case.search_root();
    let from = root.unwrap_or(case.root);
    match case.choice / 8 % 4 {
        0 => construct(costs, root),
        1 => Pattern::Chain.tree(costs, from).expect("a chain"),
        2 => Pattern::Sequential.tree(costs, from).expect("a star"),
        _ => Pattern::Bad
            .tree(costs, from)
            .expect("the reverse of a good one"),
    }
}

fn cut_short(case: &Case, costs: &CostModel, upper: &Tree, least: Option<f64>) {
    let limits = Limits {
        work: WORK[case.choice / 32 % WORK.len()],
        memory: MEMORY[case.choice / 128 % MEMORY.len()],
        ..limits(case)
    };
    proved(case, costs, upper, least, limits);
}

/// Looks at all there is, which is little for small teams.
fn complete(case: &Case, costs: &CostModel, upper: &Tree, least: f64) {
    let ended = proved(case, costs, upper, Some(least), limits(case));
    assert!(ended.is_none_or(|optimal| optimal), "{case:?}: no proof");
}

/// With a first pass that is enough, or with prices from the start.
fn limits(case: &Case) -> Limits {
    Limits {
        multipliers_first: !case.seed.is_multiple_of(2),
        ..Limits::default()
    }
}

/// One proof; whether it is one of optimality, unless the watcher ended it.
fn proved(
    case: &Case,
    costs: &CostModel,
    upper: &Tree,
    least: Option<f64>,
    limits: Limits,
) -> Option<bool> {
    let root = case.search_root();
    let known = match case.choice / 512 % 2 {
        0 => 0.0,
        _ => corecast_plan::bound::lower_bound(costs, Operation::Broadcast, root),
    };
    let (mut seen, mut ended) = (case.watcher(), false);
    let proof = prove(costs, root, upper, known, limits, &mut |_, _| {
        let seen = seen();
        ended |= seen.is_break();
        seen
    });
    let latency = |tree: &Tree| cost::latency(costs, tree, Operation::Broadcast);
    let before = latency(upper);
    let best = proof.tree.as_ref().map_or(before, latency);
    let kept = proof.lower_bound >= known.min(best) * (1.0 - ROUNDING);
    let is_valid = best <= before && kept;
    assert!(is_valid, "{case:?}: {proof:?} from {known} to {before}");
    if let Some(tree) = &proof.tree {
        assert!(best < before, "{case:?}: {proof:?}");
        assert!(root.is_none_or(|root| root == tree.root()));
    }
    between(case, proof.lower_bound, least, best);
    if proof.optimal {
        let meets = best <= proof.lower_bound * (1.0 + PROVED);
        assert!(meets, "{case:?}: {proof:?}, called optimal at {best}");
    }
    (!ended).then_some(proof.optimal)
}

/// Whether bound ≤ optimum ≤ tree.
fn between(case: &Case, bound: f64, least: Option<f64>, latency: f64) {
    let (low, high) = match least {
        Some(least) => (least, least),
        None => (latency, bound),
    };
    assert!(case.costs.n() > EXACT_MAX || least.is_some());
    let sound = bound >= 0.0
        && bound <= (low * (1.0 + ROUNDING)).min(f64::MAX)
        && latency >= high * (1.0 - ROUNDING);
    assert!(
        sound,
        "{case:?}: bound {bound}, optimum {least:?}, tree {latency}"
    );
}
