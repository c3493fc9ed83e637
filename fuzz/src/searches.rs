//! All searches on one case: what they give must be a schedule, no worse than what it came from.

use corecast_model::CostModel;
use corecast_plan::search::{SearchProgress, construct, improve, improve_barrier};
use corecast_plan::{Operation, Tree, check};

use crate::case::Case;

/// What a search says about a schedule that it found.
pub(crate) struct Found {
    /// The search.
    pub(crate) search: &'static str,
    /// Where the schedule starts or ends.
    pub(crate) root: usize,
    /// What the checker says that it takes.
    pub(crate) latency: f64,
}

/// Schedules of all searches.
///
/// # Panics
///
/// When one is none, has the wrong root, or is worse than the one before it.
pub(crate) fn all(case: &Case) -> Vec<Found> {
    match case.operation {
        Operation::Broadcast => trees(case, &case.costs),
        Operation::Reduce => trees(case, &case.costs.mirrored()),
        Operation::Barrier => vec![barrier(case)],
    }
}

/// Broadcast trees; on mirrored costs these are reductions read backwards.
fn trees(case: &Case, costs: &CostModel) -> Vec<Found> {
    let root = case.search_root();
    let start = construct(costs, root);
    let mut seen = case.watcher();
    let watch = &mut |_: &SearchProgress| seen();
    let better = improve(costs, &start, root.is_none(), 0.0, case.effort(), watch);
    let found = vec![
        found(case, costs, "construct", &start),
        found(case, costs, "improve", &better),
    ];
    let most = found[0].latency * (1.0 + 1e-9);
    assert!(found[1].latency <= most, "{case:?}");
    let same = |found: &Found| root.is_none_or(|root| root == found.root);
    assert!(found.iter().all(same), "{case:?}");
    found
}

/// Checks a tree in the direction of the case.
fn found(case: &Case, costs: &CostModel, search: &'static str, tree: &Tree) -> Found {
    let root = tree.root();
    let backwards = tree.reversed();
    let (lists, operation) = match case.operation {
        Operation::Reduce => (backwards.child_lists(), Operation::Reduce),
        _ => (tree.child_lists(), Operation::Broadcast),
    };
    let judged = |costs, operation, lists| match check::tree(costs, operation, root, lists) {
        Ok(checked) => checked.latency,
        Err(error) => panic!("{case:?}: {search}: {tree:?}: {error}"),
    };
    let latency = judged(&case.costs, operation, lists);
    // The mirror: what the search saw is what the operation takes.
    let seen = judged(costs, Operation::Broadcast, tree.child_lists());
    assert!(
        (latency - seen).abs() <= 1e-9 * latency,
        "{case:?}: {search}: {tree:?}"
    );
    Found {
        search,
        root,
        latency,
    }
}

fn barrier(case: &Case) -> Found {
    let root = case.search_root();
    let mut seen = case.watcher();
    let watch = &mut |_: &SearchProgress| seen();
    let both = improve_barrier(&case.costs, root, 0.0, case.effort(), watch);
    let at = both.outward.root();
    assert!(root.is_none_or(|root| root == at), "{case:?}: {both:?}");
    let (inward, outward) = (both.inward.child_lists(), both.outward.child_lists());
    let latency = match check::two_trees(&case.costs, at, inward, outward) {
        Ok(checked) => checked.latency,
        Err(error) => panic!("{case:?}: {both:?}: {error}"),
    };
    assert!(
        (latency - both.latency).abs() <= 1e-9 * latency,
        "{case:?}: {both:?}"
    );
    Found {
        search: "improve_barrier",
        root: at,
        latency,
    }
}
