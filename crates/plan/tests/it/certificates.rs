//! Certificates: bound, gap and proof of a plan hold over all schedules of the space that they name.

use std::ops::ControlFlow;

use corecast_model::{CostModel, builtin};
use corecast_plan::compare::{patterns, share_bounds};
use corecast_plan::groups::{Grouped, fan_in_latency, fan_out_avail};
use corecast_plan::{
    Effort, Operation, Pattern, Plan, RootChoice, Space, Tree, check, cost, plan, plan_with,
};

use crate::common::grouped::{all_grouped, costs};

fn made(
    costs: &CostModel,
    pattern: Pattern,
    operation: Operation,
    root: RootChoice,
) -> Option<Plan> {
    let effort = Effort {
        seed: 1,
        moves: 400,
    };
    let go_on = &mut |_: &_| ControlFlow::Continue(());
    let plan = plan_with(costs, pattern, operation, root, effort, go_on).ok()?;
    check::plan(costs, &plan).unwrap();
    Some(plan)
}

/// Returns a tree with root 0 with this rank and rank 0 in each other's places.
fn rooted(grouped: &Grouped, root: usize) -> Grouped {
    let other = |r: usize| match r {
        0 => root,
        r if r == root => 0,
        r => r,
    };
    let group = |group: &Vec<usize>| group.iter().map(|&r| other(r)).collect();
    let list = |r: usize| grouped.groups(other(r)).iter().map(group).collect();
    Grouped::from_groups(root, (0..grouped.len()).map(list).collect()).unwrap()
}

/// The least latency of all trees, with groups where the costs have shared lines, for each root. A barrier may have
/// a tree for each direction.
fn least(costs: &CostModel, operation: Operation, all: &[Grouped]) -> Vec<f64> {
    let may = |g: &&Grouped| costs.lines().is_some() || !g.shares_lines();
    let of_root = |root: usize| {
        // Ranks are not renamed in the costs: members that arrive together add to a line by rank.
        let all: Vec<Grouped> = all.iter().filter(may).map(|g| rooted(g, root)).collect();
        let least = |of: &dyn Fn(&Grouped) -> f64| all.iter().map(of).fold(f64::INFINITY, f64::min);
        let out = || least(&|g| fan_out_avail(costs, g).into_iter().fold(0.0, f64::max));
        let inward = || least(&|g| fan_in_latency(costs, g));
        match operation {
            Operation::Broadcast => out(),
            Operation::Reduce => {
                let trees = all.iter().filter_map(Grouped::to_tree);
                let of = |tree: Tree| cost::latency(costs, &tree, operation);
                trees.map(of).fold(f64::INFINITY, f64::min)
            }
            Operation::Barrier => inward() + out(),
        }
    };
    (0..costs.n()).map(of_root).collect()
}

/// Asserts that the plan's certificate is true.
fn verify(what: &str, plan: &Plan, least: &[f64], fastest_rounds: f64) {
    let any = least.iter().copied().fold(f64::INFINITY, f64::min);
    let best = match (plan.scope.space, plan.scope.root) {
        (Space::Trees | Space::TreesWithGroups, Some(root)) => least[root],
        (Space::Trees | Space::TreesWithGroups, None) => any,
        _ => any.min(fastest_rounds),
    };
    let what = format!(
        "{what} {} {}: {:?}",
        plan.pattern, plan.operation, plan.scope
    );
    assert!(
        plan.lower_bound <= best * (1.0 + 1e-9),
        "{what}: {} above {best}",
        plan.lower_bound
    );
    assert!(
        plan.latency >= best * (1.0 - 1e-9),
        "{what}: {} below {best}",
        plan.latency
    );
    assert!((0.0..=1.0).contains(&plan.gap), "{what}: {}", plan.gap);
    assert!(
        !plan.proved_optimal || plan.latency <= best * (1.0 + 1e-6),
        "{what}"
    );
}

#[test]
fn every_certificate_is_true_of_all_schedules_of_its_space() {
    for (n, cases) in [(1, 2), (2, 6), (3, 20), (4, 24), (5, 8), (6, 1)] {
        let all = all_grouped(n);
        for at in 0..cases {
            let costs = costs(n, at % 8, at / 8 % 5, at as u64 + 1);
            for operation in Operation::ALL {
                let least = least(&costs, operation, &all);
                for root in [RootChoice::Auto, RootChoice::Rank(at % n)] {
                    let each = patterns().into_iter();
                    let mut plans: Vec<Plan> = each
                        .filter_map(|pattern| made(&costs, pattern, operation, root))
                        .collect();
                    let rounds = plans.iter().filter(|plan| plan.rounds().is_some());
                    let rounds = rounds
                        .map(|plan| plan.latency)
                        .fold(f64::INFINITY, f64::min);
                    let what = format!("{n} {at} {root:?}");
                    for plan in &plans {
                        verify(&what, plan, &least, rounds);
                        let free = plan.pattern.is_searched() && root == RootChoice::Auto;
                        let at = (!free && plan.rounds().is_none()).then_some(plan.root);
                        assert_eq!(plan.scope.root, at, "{what}");
                    }
                    share_bounds(&mut plans.iter_mut().collect::<Vec<_>>());
                    for plan in &plans {
                        verify(&what, plan, &least, rounds);
                    }
                }
            }
        }
    }
}

#[test]
fn a_bound_holds_for_groups_where_the_planner_looks_for_them() {
    let file = builtin("sandybridge-2x8").unwrap();
    let costs = file.costs();
    let auto = RootChoice::Auto;
    for operation in [Operation::Broadcast, Operation::Barrier] {
        let best = plan(costs, Pattern::Best, operation, RootChoice::Rank(0)).unwrap();
        assert!(
            best.tree().is_none() && best.two_trees().is_none(),
            "it has groups"
        );
        for pattern in patterns() {
            let Ok(made) = plan(costs, pattern, operation, RootChoice::Rank(0)) else {
                continue;
            };
            assert!(made.lower_bound <= best.latency, "{pattern} {operation}");
            let space = match made.rounds() {
                Some(_) => Space::BarriersWithGroups,
                None => Space::TreesWithGroups,
            };
            assert_eq!(made.scope.space, space);
        }
    }
    // A reduction shares no lines, and costs without lines know no groups.
    let reduce = plan(costs, Pattern::Smelt, Operation::Reduce, auto).unwrap();
    assert_eq!(reduce.scope.space, Space::Trees);
    let bare = plan(
        &costs.without_lines(),
        Pattern::Smelt,
        Operation::Broadcast,
        auto,
    )
    .unwrap();
    assert_eq!(
        (bare.scope.space, bare.scope.root),
        (Space::Trees, Some(bare.root))
    );
}

#[test]
fn a_repaired_plan_says_that_its_bound_leaves_groups_out() {
    let file = builtin("sandybridge-2x8").unwrap();
    let costs = file.costs();
    let stay = costs.subset(&(0..31).collect::<Vec<_>>()).unwrap();
    let smelt = plan(
        costs,
        Pattern::Smelt,
        Operation::Broadcast,
        RootChoice::Auto,
    )
    .unwrap();
    let repaired = smelt.without(&stay, 31).unwrap().plan;
    assert_eq!(repaired.scope.space, Space::Trees);
    let certified = repaired.certify(&stay);
    assert_eq!(certified.scope.space, Space::TreesWithGroups);
    let flat = Grouped::flat(31, repaired.root);
    let flat = Plan::of_groups(&stay, Pattern::Best, Operation::Broadcast, flat).unwrap();
    assert!(certified.lower_bound <= flat.latency);
}
