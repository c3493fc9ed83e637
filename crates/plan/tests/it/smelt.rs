//! Smelt's algorithm against a literal reference, its published properties and the known figures.

use std::collections::BTreeSet;

use crate::common::{any_costs, close, naive_broadcast, public_machines};
use corecast_model::CostModel;
use corecast_plan::smelt::{Helper, base, reorder, root, shuffle, tree};
use corecast_plan::{Operation, Pattern, RootChoice, Tree, cost, plan};
use proptest::prelude::*;

fn latency(costs: &CostModel, tree: &Tree) -> f64 {
    cost::latency(costs, tree, Operation::Broadcast)
}

/// Smelt's Algorithm 1, written naively with sets and a list of idle times.
fn naive_base(costs: &CostModel, root: usize) -> Vec<Vec<usize>> {
    let all: BTreeSet<usize> = (0..costs.n()).collect();
    let node = |c: usize| costs.numa(c);
    let mut lists = vec![Vec::new(); costs.n()];
    let mut cores = BTreeSet::from([root]);
    let mut nodes = BTreeSet::from([node(root)]);
    let mut idle = vec![(0.0, root)];
    while cores != all {
        let at = (0..idle.len())
            .min_by(|&a, &b| {
                let (a, b): ((f64, usize), (f64, usize)) = (idle[a], idle[b]);
                a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
            })
            .unwrap();
        let (now, i) = idle.remove(at);
        let elsewhere: BTreeSet<usize> = all
            .iter()
            .copied()
            .filter(|&c| nodes.contains(&node(c)) && node(c) != node(i))
            .collect();
        let taken: BTreeSet<usize> = cores.union(&elsewhere).copied().collect();
        let mut candidates: Vec<usize> = all.difference(&taken).copied().collect();
        let total = |x: usize| costs.send(i, x) + costs.receive(i, x);
        candidates.sort_by(|&a, &b| total(b).total_cmp(&total(a)).then(a.cmp(&b)));
        let Some(&next) = candidates.first() else {
            continue;
        };
        let next = if node(next) == node(i) {
            next
        } else {
            let mut eligible: Vec<usize> = all
                .iter()
                .copied()
                .filter(|&c| node(c) == node(next))
                .collect();
            eligible.sort_by(|&a, &b| {
                costs
                    .send(i, a)
                    .total_cmp(&costs.send(i, b))
                    .then(a.cmp(&b))
            });
            eligible[0]
        };
        nodes.insert(node(next));
        cores.insert(next);
        lists[i].push(next);
        let sent = now + costs.send(i, next);
        idle.push((sent, i));
        idle.push((sent + costs.receive(i, next), next));
    }
    lists
}

/// Checks the properties that the base algorithm has on any input.
fn check_base(costs: &CostModel, root: usize) {
    let tree = base(costs, root);
    assert_eq!(tree.child_lists(), naive_base(costs, root));
    let mut entered = BTreeSet::from([costs.numa(root)]);
    for &v in tree.order() {
        for &c in tree.children(v) {
            if costs.numa(c) != costs.numa(v) {
                assert!(
                    entered.insert(costs.numa(c)),
                    "two messages into one NUMA node"
                );
            }
        }
    }
}

fn check_never_worse(costs: &CostModel, start: &Tree) {
    let before = latency(costs, start);
    let reordered = reorder(costs, start);
    assert!(latency(costs, &reordered) <= before);
    for helper in [Helper::FirstIdle, Helper::EarliestFinish] {
        let shuffled = shuffle(costs, start, helper);
        assert!(latency(costs, &shuffled) <= before);
        assert_eq!(shuffled.root(), start.root());
        let twice = shuffle(costs, &reordered, helper);
        assert!(latency(costs, &twice) <= latency(costs, &reordered));
        assert!(close(
            latency(costs, &twice),
            naive_broadcast(costs, &twice)
        ));
    }
}

#[test]
fn the_root_has_the_least_mean_send() {
    let costs = CostModel::from_fn(
        corecast_model::Unit::Cycles,
        vec![0; 4],
        |i, _| [9.0, 5.0, 5.0, 7.0][i],
        |_, _| 1.0,
    )
    .unwrap();
    assert_eq!(root(&costs), 1, "ties to the lower rank");
}

#[test]
fn a_hand_worked_tree() {
    // Two NUMA nodes of two. Near: send 10, receive 20. Far: send 30, receive 60.
    let machine = corecast_model::synthetic("package:2 core:2 send=10,30 receive=20,60").unwrap();
    // 0 sends to 2 first (remote first, cheapest by rank), at 30 it sends to 1; 2 is idle at 90 and
    // sends to 3, done at 120.
    let tree = base(machine.costs(), 0);
    assert_eq!(tree.child_lists(), [vec![2, 1], vec![], vec![3], vec![]]);
    assert_eq!(latency(machine.costs(), &tree), 120.0);
}

/// Known latencies of Smelt with both optimisations on the public matrices, in cycles.
#[test]
fn known_figures() {
    for machine in public_machines() {
        let costs = machine.costs();
        let name = machine.machine().name.as_str();
        let (full, bound) = match name {
            "bloomfield-2x4x2" => (471.4, 447.64),
            "shanghai-4x4" => (1575.5, 1402.32),
            "ivybridge-2x10" => (1386.5, 1304.16),
            "istanbul-4x6" => (2654.4, 2573.0),
            "nehalem-4x8" => (858.1, 808.9),
            "barcelona-8x4" => (2851.9, 2419.9),
            "magnycours-4x12" => (2833.6, 2429.5),
            other => panic!("no figure for {other}"),
        };
        let plan = plan(
            costs,
            Pattern::Smelt,
            Operation::Broadcast,
            RootChoice::Auto,
        )
        .unwrap();
        println!(
            "{name:<18} {:>8.1} (known {full:>7.1}), bound {:>7.1}",
            plan.latency, plan.lower_bound
        );
        assert!(
            (plan.latency - full).abs() < 0.06,
            "{name}: {} instead of {full}",
            plan.latency
        );
        // No bound may exceed the best tree that is known.
        assert!(
            plan.lower_bound <= bound + 0.06,
            "{name}: bound {}",
            plan.lower_bound
        );
    }
}

#[test]
fn public_machines_keep_the_promises() {
    for machine in public_machines() {
        for root in 0..machine.costs().n() {
            check_base(machine.costs(), root);
            for pattern in [
                Pattern::Smelt,
                Pattern::Cluster,
                Pattern::Binary,
                Pattern::Mst,
            ] {
                check_never_worse(
                    machine.costs(),
                    &pattern.tree(machine.costs(), root).unwrap(),
                );
            }
            check_never_worse(machine.costs(), &base(machine.costs(), root));
        }
    }
}

#[test]
fn small_teams() {
    for n in 1..=3 {
        for kind in 0..8 {
            let costs = crate::common::costs_of_kind(n, kind, 2, 5);
            for root in 0..n {
                check_base(&costs, root);
                assert_eq!(tree(&costs, root).len(), n);
            }
        }
    }
}

proptest! {
    #[test]
    fn base_is_the_algorithm(costs in any_costs(32), root in any::<prop::sample::Index>()) {
        check_base(&costs, root.index(costs.n()));
    }

    #[test]
    fn optimisations_never_lose(costs in any_costs(32), root in any::<prop::sample::Index>()) {
        let root = root.index(costs.n());
        let first = base(&costs, root);
        check_never_worse(&costs, &first);
        for pattern in [Pattern::Binary, Pattern::Bad, Pattern::Chain, Pattern::Sequential] {
            check_never_worse(&costs, &pattern.tree(&costs, root).unwrap());
        }
        let whole = tree(&costs, root);
        prop_assert!(latency(&costs, &whole) <= latency(&costs, &first));
        prop_assert_eq!(&whole, &tree(&costs, root));
    }
}
