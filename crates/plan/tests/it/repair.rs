//! Plans of teams that change by one member: right on all costs, near a fresh search on real ones.

use std::ops::ControlFlow;

use crate::common::{
    any_costs, close, costs_of_kind, naive_broadcast, naive_reduce, optimum, public_machines,
};
use corecast_model::CostModel;
use corecast_plan::search::{Effort, SearchProgress, construct, improve};
use corecast_plan::{
    Operation, Pattern, Plan, Repair, RepairError, RootChoice, Shape, Tree, check, plan, smelt,
};
use proptest::prelude::*;

fn without(costs: &CostModel, rank: usize) -> CostModel {
    let stay: Vec<usize> = (0..costs.n()).filter(|&r| r != rank).collect();
    costs.subset(&stay).unwrap()
}

/// The plan of a search with a fixed number of moves. A barrier with an odd root has two trees.
fn searched(costs: &CostModel, operation: Operation, root: usize, moves: u64) -> Plan {
    let tree = |costs: &CostModel| {
        let start = construct(costs, Some(root));
        let effort = Effort { seed: 1, moves };
        let go_on = &mut |_: &SearchProgress| ControlFlow::Continue(());
        improve(costs, &start, false, 0.0, effort, go_on)
    };
    let fan_in = || tree(&costs.mirrored()).reversed();
    match operation {
        Operation::Reduce => Plan::of_tree(costs, Pattern::Smelt, operation, fan_in()),
        Operation::Barrier if root % 2 == 1 => {
            Plan::of_trees(costs, Pattern::Smelt, fan_in(), tree(costs))
        }
        _ => Plan::of_tree(costs, Pattern::Smelt, operation, tree(costs)),
    }
    .unwrap()
}

/// The latency by the definitions, from the shape alone.
fn naive(costs: &CostModel, plan: &Plan) -> f64 {
    match (&plan.shape, plan.operation) {
        (Shape::Tree(tree), Operation::Broadcast) => naive_broadcast(costs, tree),
        (Shape::Tree(tree), Operation::Reduce) => naive_reduce(costs, tree),
        (Shape::Tree(tree), Operation::Barrier) => {
            naive_reduce(costs, &tree.reversed()) + naive_broadcast(costs, tree)
        }
        (Shape::Trees { fan_in, fan_out }, _) => {
            naive_reduce(costs, fan_in) + naive_broadcast(costs, fan_out)
        }
        (shape, _) => panic!("not a tree: {shape:?}"),
    }
}

fn trees(plan: &Plan) -> Vec<&Tree> {
    match &plan.shape {
        Shape::Tree(tree) => vec![tree, tree],
        Shape::Trees { fan_in, fan_out } => vec![fan_in, fan_out],
        shape => panic!("not a tree: {shape:?}"),
    }
}

/// Returns the members that moved; `name(new rank)` is the old rank, or `None` for a newcomer.
fn moved(old: &Plan, new: &Plan, name: impl Fn(usize) -> Option<usize>) -> Vec<usize> {
    let differs = |rank: &usize| {
        name(*rank).is_some_and(|before| {
            let pairs = trees(old).into_iter().zip(trees(new));
            pairs
                .into_iter()
                .any(|(old, new)| old.parent(before).map(Some) != new.parent(*rank).map(&name))
        })
    };
    (0..new.shape.len()).filter(differs).collect()
}

/// Checks all that holds for a repair, whatever the costs.
fn oracle(costs: &CostModel, old: &Plan, repair: &Repair, name: impl Fn(usize) -> Option<usize>) {
    let plan = &repair.plan;
    check::plan(costs, plan).unwrap();
    assert!(close(plan.latency, naive(costs, plan)), "{plan:?}");
    assert!(plan.lower_bound <= plan.latency);
    assert_eq!(repair.moved, moved(old, plan, name));
    let full = plan.certify(costs);
    assert!(full.lower_bound >= plan.lower_bound);
    check::plan(costs, &full).unwrap();
}

fn check_all(costs: &CostModel, operation: Operation, root: usize) {
    let n = costs.n();
    let whole = searched(costs, operation, root, 200);
    for rank in 0..n {
        if n == 1 {
            let error = whole.without(costs, rank).unwrap_err();
            assert_eq!(error, RepairError::LastMember);
            continue;
        }
        let fewer = without(costs, rank);
        let left = whole.without(&fewer, rank).unwrap();
        oracle(&fewer, &whole, &left, |r| Some(r + usize::from(r >= rank)));
        if rank != root {
            assert_eq!(left.plan.root, root - usize::from(root > rank));
        }
        let back = left.plan.with(costs, rank).unwrap();
        oracle(costs, &left.plan, &back, |r| {
            (r != rank).then(|| r - usize::from(r > rank))
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_change_gives_a_valid_plan(costs in any_costs(12), root: usize, kind in 0..3_usize) {
        check_all(&costs, Operation::ALL[kind], root % costs.n());
    }
}

#[test]
fn the_quick_bound_is_below_the_optimum() {
    for seed in 0..160_u64 {
        let n = 2 + seed as usize % 6;
        let costs = costs_of_kind(n + 1, seed as usize % 8, 1 + seed as u32 % 3, 77 * seed + 1);
        for rank in 0..=n {
            let fewer = without(&costs, rank);
            let inward = |root| optimum(&fewer.mirrored(), root);
            for operation in Operation::ALL {
                let after = searched(&costs, operation, seed as usize % n, 50)
                    .without(&fewer, rank)
                    .unwrap();
                let root = after.plan.root;
                let best = match operation {
                    Operation::Broadcast => optimum(&fewer, root),
                    Operation::Reduce => inward(root),
                    Operation::Barrier => optimum(&fewer, root) + inward(root),
                };
                let bound = after.plan.lower_bound;
                assert!(
                    bound <= best * (1.0 + 1e-12),
                    "{operation} {bound} above {best}"
                );
            }
        }
    }
}

#[test]
fn the_quick_bound_is_worth_something() {
    let machine =
        corecast_model::synthetic("package:2 core:8 send=60,120 receive=220,450").unwrap();
    let costs = machine.costs();
    for operation in Operation::ALL {
        let whole = searched(costs, operation, 0, 2000);
        let after = whole.without(&without(costs, 5), 5).unwrap().plan;
        assert!(after.gap < 0.5, "{operation}: gap {}", after.gap);
    }
}

#[test]
fn a_leaf_that_leaves_disturbs_nobody_where_nothing_is_gained() {
    // A chain is the only good tree here: each member is near to its neighbour alone.
    let cost = |i: usize, j: usize| if j == i + 1 { 1.0 } else { 1000.0 };
    let unit = corecast_model::Unit::Cycles;
    let costs = CostModel::from_fn(unit, vec![0; 10], cost, cost).unwrap();
    let whole = plan(
        &costs,
        Pattern::Chain,
        Operation::Broadcast,
        RootChoice::Rank(0),
    )
    .unwrap();
    let after = whole.without(&without(&costs, 9), 9).unwrap();
    assert!(after.moved.is_empty());
    assert_eq!(after.plan.latency, 16.0);
    let back = after.plan.with(&costs, 9).unwrap();
    assert!(back.moved.is_empty());
    assert_eq!(back.plan.shape, whole.shape);
}

#[test]
fn rounds_are_made_anew() {
    let machine = corecast_model::synthetic("core:9 send=10 receive=30").unwrap();
    let costs = machine.costs();
    let pattern = Pattern::Dissemination { radix: 3 };
    let whole = plan(costs, pattern, Operation::Barrier, RootChoice::Rank(4)).unwrap();
    let fewer = without(costs, 2);
    let after = whole.without(&fewer, 2).unwrap();
    let anew = plan(&fewer, pattern, Operation::Barrier, RootChoice::Rank(3)).unwrap();
    assert_eq!((&after.plan.shape, after.plan.root), (&anew.shape, 3));
    assert_eq!(after.plan.latency, anew.latency);
    assert!(after.plan.lower_bound <= anew.lower_bound);
    assert_eq!(after.plan.certify(&fewer), anew);
    assert_eq!(after.plan.with(costs, 2).unwrap().plan.shape, whole.shape);
}

#[test]
fn wrong_changes_are_refused() {
    let machine = corecast_model::synthetic("core:4 send=10 receive=30").unwrap();
    let costs = machine.costs();
    let whole = plan(
        costs,
        Pattern::Smelt,
        Operation::Broadcast,
        RootChoice::Auto,
    )
    .unwrap();
    let refused = |result: Result<Repair, RepairError>, part: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(part), "{error:?} lacks {part:?}");
    };
    refused(whole.without(costs, 4), "rank 4 is outside");
    refused(whole.without(costs, 1), "has 4 members, the changed team 3");
    refused(whole.with(costs, 5), "ranks are 0 to 4");
    refused(whole.with(costs, 4), "has 4 members, the changed team 5");
}

/// The most that a repaired plan may cost, as a multiple of a fresh search.
const EXCESS_MAX: f64 = 1.05;

fn near_fresh(costs: &CostModel, plan: &Plan, moves: u64, what: &str) {
    let fresh = searched(costs, plan.operation, plan.root, moves);
    let excess = plan.latency / fresh.latency;
    assert!(
        excess <= EXCESS_MAX,
        "{what}: {excess} times a fresh search"
    );
}

/// Checks plans after each of these members has left, and after each but the root has joined a team
/// whose plan was searched with `moves` moves.
fn single_changes(costs: &CostModel, operation: Operation, ranks: &[usize], moves: u64) {
    const MOVES: u64 = 10_000;
    let (root, n) = (smelt::root(costs), costs.n());
    let whole = searched(costs, operation, root, 5 * MOVES);
    for &rank in ranks {
        let fewer = without(costs, rank);
        let left = whole.without(&fewer, rank).unwrap();
        let what = format!("{operation}, {n} without {rank}");
        near_fresh(&fewer, &left.plan, MOVES, &what);
        if rank != root {
            let base = root - usize::from(root > rank);
            let start = searched(&fewer, operation, base, moves);
            let joined = start.with(costs, rank).unwrap().plan;
            let excess = joined.latency / whole.latency;
            assert!(excess <= EXCESS_MAX, "{what} and with it again: {excess}");
        }
    }
}

#[test]
fn every_single_change_of_a_broadcast_on_real_machines_stays_near_a_fresh_search() {
    for machine in public_machines() {
        println!("{}", machine.machine().name);
        let ranks: Vec<usize> = (0..machine.costs().n()).collect();
        single_changes(machine.costs(), Operation::Broadcast, &ranks, 10_000);
    }
}

#[test]
fn single_changes_of_a_reduction_on_real_machines_stay_near_a_fresh_search() {
    for machine in public_machines() {
        println!("{}", machine.machine().name);
        let ranks: Vec<usize> = (0..machine.costs().n()).step_by(3).collect();
        single_changes(machine.costs(), Operation::Reduce, &ranks, 50_000);
    }
}

#[test]
fn twenty_changes_on_real_machines_stay_near_a_fresh_search() {
    for machine in public_machines() {
        let all = machine.costs();
        for (seed, operation) in (1..=12).flat_map(|seed| {
            [Operation::Broadcast, Operation::Reduce].map(|operation| (seed, operation))
        }) {
            let mut state: u64 = seed * 7919;
            let mut below = |n: usize| {
                state = (state * 48_271 + 11) % 0x7fff_ffff;
                state as usize % n
            };
            let mut team: Vec<usize> = (0..all.n()).collect();
            let mut away = Vec::new();
            let mut plan = searched(all, operation, smelt::root(all), 50_000);
            for _ in 0..20 {
                let join = !away.is_empty() && (team.len() < 4 || below(2) == 0);
                let rank = below(team.len() + usize::from(join));
                if join {
                    team.insert(rank, away.swap_remove(below(away.len())));
                    plan = plan.with(&all.subset(&team).unwrap(), rank).unwrap().plan;
                } else {
                    away.push(team.remove(rank));
                    plan = plan
                        .without(&all.subset(&team).unwrap(), rank)
                        .unwrap()
                        .plan;
                }
            }
            let what = format!("{}, {operation}, seed {seed}", machine.machine().name);
            near_fresh(&all.subset(&team).unwrap(), &plan, 20_000, &what);
        }
    }
}

#[test]
fn most_members_stay_where_they_are() {
    // The team is large, and its plan was searched, so little can be gained.
    let spec = "package:4 numa:4 core:8 send=60,120,200 receive=220,450,750";
    let machine = corecast_model::synthetic(spec).unwrap();
    let costs = machine.costs();
    let whole = searched(costs, Operation::Broadcast, 0, 20_000);
    for rank in (0..costs.n()).step_by(17) {
        let left = whole.without(&without(costs, rank), rank).unwrap();
        let moved = left.moved.len();
        assert!(4 * moved <= costs.n(), "{moved} moved when {rank} left");
    }
}
