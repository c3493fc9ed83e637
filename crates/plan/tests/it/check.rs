//! The checker accepts every plan, and refuses every plan that was corrupted.

use crate::common::{any_costs, costs_of_kind, public_machines, random_team, tree_patterns};
use corecast_model::{CostModel, synthetic};
use corecast_plan::check::{self, CheckError};
use corecast_plan::{Operation, Pattern, Plan, PlanError, RootChoice, Rounds, Shape, Tree, plan};
use proptest::prelude::*;

/// Every pattern that can be made.
fn all_patterns() -> Vec<Pattern> {
    let mut all = tree_patterns();
    all.extend([2, 3, 5].map(|radix| Pattern::Dissemination { radix }));
    all
}

/// Checks every pattern and operation, and returns the number of plans.
fn check_all(costs: &CostModel, root: RootChoice, what: &str) -> usize {
    let mut checked = 0;
    for pattern in all_patterns() {
        for operation in Operation::ALL {
            let made = match plan(costs, pattern, operation, root) {
                Ok(plan) => plan,
                Err(PlanError::Unsuited { .. }) => continue,
                Err(error) => panic!("{what}: {pattern} {operation}: {error}"),
            };
            let found = check::plan(costs, &made)
                .unwrap_or_else(|error| panic!("{what}: {pattern} {operation}: {error}"));
            assert_eq!(found.done.len(), costs.n());
            let messages = match (&made.shape, operation) {
                (Shape::Tree(tree), Operation::Barrier) => 2 * (tree.len() - 1),
                (Shape::Tree(tree), _) => tree.len() - 1,
                (Shape::Rounds(rounds), _) => rounds.notifications(),
                _ => unreachable!("patterns are trees or rounds"),
            };
            assert_eq!(found.messages, messages, "{what}: {pattern} {operation}");
            checked += 1;
        }
    }
    checked
}

#[test]
fn all_plans_of_the_public_machines_pass() {
    for machine in public_machines() {
        let name = &machine.machine().name;
        let whole = machine.costs();
        let mut checked = check_all(whole, RootChoice::Auto, name);
        for seed in 0..3 {
            let team = random_team(whole.n(), seed);
            let costs = whole.subset(&team).unwrap();
            let root = RootChoice::Rank(seed as usize % team.len());
            checked += check_all(&costs, root, &format!("{name} team {team:?}"));
        }
        println!("{name:<18} {checked} plans");
    }
}

#[test]
fn all_plans_of_odd_costs_pass() {
    for n in [1, 2, 3, 8, 17] {
        for kind in 0..8 {
            let costs = costs_of_kind(n, kind, 3, 1 + n as u64);
            for root in [0, n - 1] {
                let what = format!("n {n} kind {kind} root {root}");
                check_all(&costs, RootChoice::Rank(root), &what);
            }
        }
    }
}

/// A reduction by hand, in which the parent waits for its first child while the second is ready.
#[test]
fn a_reduction_takes_in_list_order() {
    let costs = synthetic("core:4 send=10 receive=30").unwrap();
    // 3 sends to 1 (ready at 10, taken at 40), 1 to 0 (ready at 50, taken at 80); 2 is taken after.
    let lists = vec![vec![1, 2], vec![3], vec![], vec![]];
    let found = check::tree(costs.costs(), Operation::Reduce, 0, &lists).unwrap();
    assert_eq!(found.done, [110.0, 50.0, 10.0, 10.0]);
    let lists = vec![vec![2, 1], vec![3], vec![], vec![]];
    let found = check::tree(costs.costs(), Operation::Reduce, 0, &lists).unwrap();
    assert_eq!(found.latency, 80.0);
    // The fan-in of a barrier takes the lists backwards, so its parent waits as in the first
    // reduction.
    let found = check::tree(costs.costs(), Operation::Barrier, 0, &lists).unwrap();
    assert_eq!(found.latency, 110.0 + 90.0);
}

#[test]
fn a_barrier_of_two_trees_is_their_sum() {
    for seed in 0..40 {
        let n = 2 + seed as usize % 12;
        let costs = costs_of_kind(n, seed as usize % 8, 3, seed + 5);
        let root = seed as usize % n;
        let tree = |pattern: Pattern| pattern.tree(&costs, root).unwrap();
        let (inward, outward) = (tree(Pattern::Cluster).reversed(), tree(Pattern::Smelt));
        let alone = |operation, tree: &Tree| {
            let lists = tree.child_lists();
            check::tree(&costs, operation, root, lists).unwrap().latency
        };
        let sum = alone(Operation::Reduce, &inward) + alone(Operation::Broadcast, &outward);
        let both = check::two_trees(&costs, root, inward.child_lists(), outward.child_lists());
        assert!(crate::common::close(both.unwrap().latency, sum));
        let mut made = Plan::of_trees(&costs, Pattern::Smelt, inward, outward).unwrap();
        check::plan(&costs, &made).unwrap();
        made.root = (root + 1) % n;
        let (plan, tree) = (made.root, root);
        let error = check::plan(&costs, &made).unwrap_err();
        assert_eq!(error, CheckError::Root { plan, tree });
        made.root = root;
        if let Shape::Trees { .. } = made.shape {
            let operation = Operation::Reduce;
            made.operation = operation;
            let error = check::plan(&costs, &made).unwrap_err();
            assert_eq!(error, CheckError::Unsuited { operation });
        }
    }
}

fn example() -> (CostModel, Plan) {
    let costs = costs_of_kind(12, 0, 4, 99);
    let plan = plan(
        &costs,
        Pattern::Smelt,
        Operation::Reduce,
        RootChoice::Rank(3),
    )
    .unwrap();
    check::plan(&costs, &plan).unwrap();
    (costs, plan)
}

/// The checker's error for the example after `corrupt` has changed it.
fn corrupted(corrupt: impl FnOnce(&mut Plan)) -> CheckError {
    let (costs, mut plan) = example();
    corrupt(&mut plan);
    let error = check::plan(&costs, &plan).unwrap_err();
    assert!(!error.to_string().contains('\n'));
    error
}

#[test]
fn wrong_numbers_are_found() {
    let error = corrupted(|plan| plan.latency *= 1.0 + 1e-8);
    assert!(matches!(error, CheckError::Latency { .. }), "{error}");
    let error = corrupted(|plan| plan.latency *= 0.5);
    assert!(matches!(error, CheckError::Latency { .. }), "{error}");
    let error = corrupted(|plan| plan.latency = f64::NAN);
    assert!(
        matches!(
            error,
            CheckError::Number {
                what: "latency",
                ..
            }
        ),
        "{error}"
    );
    let error = corrupted(|plan| plan.lower_bound = f64::NEG_INFINITY);
    assert!(
        matches!(error, CheckError::Number { what: "bound", .. }),
        "{error}"
    );
    let error = corrupted(|plan| plan.lower_bound = plan.latency * 1.01);
    assert!(matches!(error, CheckError::Bound { .. }), "{error}");
    let error = corrupted(|plan| plan.lower_bound *= 0.99);
    assert!(matches!(error, CheckError::Gap { .. }), "{error}");
    let error = corrupted(|plan| plan.gap += 1e-6);
    assert!(matches!(error, CheckError::Gap { .. }), "{error}");
    let error = corrupted(|plan| plan.gap = -plan.gap);
    assert!(
        matches!(error, CheckError::Number { what: "gap", .. }),
        "{error}"
    );
    let error = corrupted(|plan| plan.proved_optimal = true);
    assert!(matches!(error, CheckError::NotProved { .. }), "{error}");
}

/// A proof counts in ticks: its bound may be a ten-millionth below the latency, and no more.
#[test]
fn proofs_end_within_a_tick() {
    let (costs, plan) = example();
    let proved = |below: f64| {
        let mut plan = plan.clone();
        plan.lower_bound = plan.latency * (1.0 - below);
        plan.gap = (plan.latency - plan.lower_bound) / plan.latency;
        plan.proved_optimal = true;
        check::plan(&costs, &plan)
    };
    assert!(proved(0.0).is_ok() && proved(9e-8).is_ok());
    let error = proved(1.2e-7).unwrap_err();
    assert!(matches!(error, CheckError::NotProved { .. }), "{error}");
}

#[test]
fn wrong_schedules_are_found() {
    let error = corrupted(|plan| plan.root = 4);
    assert_eq!(error, CheckError::Root { plan: 4, tree: 3 });
    let error = corrupted(|plan| plan.operation = Operation::Broadcast);
    assert!(matches!(error, CheckError::Latency { .. }), "{error}");
    // Two siblings change places.
    let error = corrupted(|plan| {
        let Shape::Tree(tree) = &plan.shape else {
            panic!("a tree")
        };
        let mut lists = tree.child_lists().to_vec();
        lists[3].rotate_left(1);
        plan.shape = Shape::Tree(Tree::from_children(3, lists).unwrap());
    });
    assert!(matches!(error, CheckError::Latency { .. }), "{error}");
    let error = corrupted(|plan| plan.shape = Shape::Rounds(Rounds::dissemination(12, 2)));
    let operation = Operation::Reduce;
    assert_eq!(error, CheckError::Unsuited { operation });
    let error = corrupted(|plan| {
        plan.operation = Operation::Barrier;
        plan.shape = Shape::Rounds(Rounds::dissemination(11, 2));
    });
    let (found, expected) = (11, 12);
    assert_eq!(error, CheckError::TeamSize { found, expected });
}

#[test]
fn lists_that_are_no_tree_are_found() {
    let machine = synthetic("core:5").unwrap();
    let refused = |root, lists: &[&[usize]]| {
        let lists: Vec<Vec<usize>> = lists.iter().map(|list| list.to_vec()).collect();
        let errors = Operation::ALL
            .map(|operation| check::tree(machine.costs(), operation, root, &lists).unwrap_err());
        assert!(errors.iter().all(|error| error == &errors[0]));
        assert_eq!(
            check::two_trees(machine.costs(), root, &lists, &lists).unwrap_err(),
            errors[0]
        );
        errors[0].clone()
    };
    let (found, expected) = (4, 5);
    let error = refused(0, &[&[1], &[2], &[3], &[]]);
    assert_eq!(error, CheckError::TeamSize { found, expected });
    let error = refused(0, &[&[1], &[2], &[3], &[5], &[]]);
    assert_eq!(error, CheckError::Outside { rank: 5, last: 4 });
    let error = refused(5, &[&[1], &[2], &[3], &[4], &[]]);
    assert_eq!(error, CheckError::Outside { rank: 5, last: 4 });
    let error = refused(0, &[&[1], &[2], &[3, 0], &[4], &[]]);
    assert_eq!(error, CheckError::RootIsChild { parent: 2, root: 0 });
    let error = refused(0, &[&[1, 2], &[2], &[3], &[4], &[]]);
    assert_eq!(error, CheckError::Repeated { rank: 2, times: 2 });
    let error = refused(0, &[&[1, 1], &[2], &[3], &[4], &[]]);
    assert_eq!(error, CheckError::Repeated { rank: 1, times: 2 });
    let error = refused(0, &[&[1], &[2], &[3], &[], &[]]);
    assert_eq!(error, CheckError::Dropped { rank: 4 });
    let error = refused(0, &[&[1], &[], &[3], &[4], &[2]]);
    assert!(
        matches!(error, CheckError::Cycle { rank: 2..=4 }),
        "{error}"
    );
    let error = refused(0, &[&[1], &[], &[3], &[4, 2], &[]]);
    assert!(
        matches!(error, CheckError::Cycle { rank: 2..=3 }),
        "{error}"
    );
    let error = refused(0, &[&[1, 2, 4], &[], &[], &[3], &[]]);
    assert_eq!(error, CheckError::Cycle { rank: 3 });
}

#[test]
fn the_largest_machines_are_checked_soon() {
    let machine = synthetic("package:8 numa:4 core:32").unwrap();
    let costs = machine.costs();
    for pattern in [Pattern::Chain, Pattern::Sequential, Pattern::Binomial] {
        let tree = pattern.tree(costs, 7).unwrap();
        for operation in Operation::ALL {
            let found = check::tree(costs, operation, 7, tree.child_lists()).unwrap();
            let said = corecast_plan::cost::latency(costs, &tree, operation);
            assert!(
                crate::common::close(found.latency, said),
                "{pattern} {operation}"
            );
        }
    }
}

proptest! {
    /// A tree in which one child is moved is either no tree, or another plan with its own latency.
    #[test]
    fn moved_children_are_found(
        costs in any_costs(12),
        seed in any::<u64>(),
        operation in prop::sample::select(Operation::ALL.to_vec()),
    ) {
        let root = seed as usize % costs.n();
        let made = plan(&costs, Pattern::Smelt, operation, RootChoice::Rank(root)).unwrap();
        let tree = made.tree().unwrap();
        let mut lists = tree.child_lists().to_vec();
        let n = costs.n();
        let (from, to) = ((seed >> 8) as usize % n, (seed >> 24) as usize % n);
        prop_assume!(!lists[from].is_empty());
        let at = (seed >> 40) as usize % lists[from].len();
        let child = lists[from].remove(at);
        let dropped = check::tree(&costs, operation, root, &lists).unwrap_err();
        prop_assert_eq!(dropped, CheckError::Dropped { rank: child });
        lists[to].push(child);
        let found = check::tree(&costs, operation, root, &lists);
        match Tree::from_children(root, lists.clone()) {
            Ok(tree) => {
                let said = corecast_plan::cost::latency(&costs, &tree, operation);
                prop_assert!(crate::common::close(found.unwrap().latency, said));
            }
            Err(_) => {
                let cycle = matches!(found, Err(CheckError::Cycle { .. }));
                prop_assert!(cycle, "{:?}", found);
            }
        }
        lists[to].push(child);
        let repeated = check::tree(&costs, operation, root, &lists).unwrap_err();
        prop_assert_eq!(repeated, CheckError::Repeated { rank: child, times: 2 });
    }
}
