//! Bounds by nested levels against the optimum, and the trees that are replayed from them.

use crate::common::{close, costs_of_kind, naive_broadcast, optimum};
use corecast_model::{CostModel, Unit};
use corecast_plan::bound::{levels, lower_bound};
use corecast_plan::hierarchy::{certified, tree};
use corecast_plan::{Operation, cost, smelt};
use fastrand::Rng;

const WORK: u64 = 20_000_000;

/// A cost model with members in uneven groups of uneven groups, in any order. Costs are whole
/// numbers, now and then with noise, with a free level, or with some cost that differs from its
/// level's.
fn nested(n: usize, random: &mut Rng) -> CostModel {
    let (inner, outer) = (1 + random.u64(..4), 1 + random.u64(..3));
    let place: Vec<(u64, u64)> = (0..n)
        .map(|_| (random.u64(..outer), random.u64(..inner)))
        .collect();
    let mut price = [(0, 0); 3];
    let mut least = (random.u64(..3), random.u64(..4));
    for price in &mut price {
        least = (least.0 + random.u64(..5), least.1 + random.u64(..9));
        *price = least;
    }
    let noise = [0.0, 0.0, 0.03, 0.3][random.usize(..4)];
    let odd = random.u64(..3) == 0;
    let mut cost = |i: usize, j: usize, receive: bool| {
        let (a, b) = (place[i], place[j]);
        let level = if a == b {
            0
        } else {
            1 + usize::from(a.0 != b.0)
        };
        let (send, rest) = price[level];
        let mut cost = if receive { rest } else { send } as f64;
        if odd && random.u64(..12) == 0 {
            cost = random.u64(..40) as f64;
        }
        cost * (1.0 + noise * (random.u64(..2001) as f64 / 1000.0 - 1.0))
    };
    let mut rows = |receive| -> Vec<Vec<f64>> {
        (0..n)
            .map(|i| (0..n).map(|j| cost(i, j, receive)).collect())
            .collect()
    };
    let (send, receive) = (rows(false), rows(true));
    let numa = place.iter().map(|p| (p.0 * 4 + p.1) as u32).collect();
    CostModel::new(Unit::Cycles, send, receive, numa).unwrap()
}

/// Checks bounds and trees of one team, and returns how many of the bounds are the optimum.
fn check(costs: &CostModel, what: &str) -> usize {
    let n = costs.n();
    let mut tight = 0;
    let mut least = f64::INFINITY;
    for root in 0..n {
        let best = optimum(costs, root);
        least = least.min(best);
        if root != 0 && root != n - 1 {
            continue;
        }
        let bound = levels(costs, Some(root), WORK);
        assert!(bound <= best * (1.0 + 1e-9), "{what}: {bound} > {best}");
        assert!(bound >= lower_bound(costs, Operation::Broadcast, Some(root)));
        tight += usize::from(close(bound, best));
        if let Some(found) = certified(costs, Some(root), WORK) {
            assert_eq!(found.tree.root(), root);
            assert!(close(found.latency, naive_broadcast(costs, &found.tree)));
            assert!(found.lower_bound <= best * (1.0 + 1e-9), "{what}");
            assert!(found.latency >= best * (1.0 - 1e-9), "{what}");
        }
    }
    let bound = levels(costs, None, WORK);
    assert!(
        bound <= least * (1.0 + 1e-9),
        "{what}: {bound} > {least} from any root"
    );
    tight
}

#[test]
fn no_optimum_of_nested_groups_beats_a_bound() {
    let mut random = Rng::with_seed(1);
    let (mut tight, mut tried) = (0, 0);
    for n in 2..=8 {
        for case in 0..if n < 7 { 300 } else { 120 } {
            let costs = nested(n, &mut random);
            tight += check(&costs, &format!("n {n} case {case}"));
            tried += 2;
        }
    }
    println!("{tight} of {tried} bounds are the optimum");
    assert!(
        tight * 2 > tried,
        "only {tight} of {tried} bounds are the optimum"
    );
}

#[test]
fn no_optimum_of_any_kind_beats_a_bound() {
    for n in [2, 5, 7, 8] {
        for kind in 0..8 {
            for (per_node, seed) in [(2, 1), (3, 2), (4, 3)] {
                let costs = costs_of_kind(n, kind, per_node, seed * 0x9e37_79b9);
                check(&costs, &format!("n {n} kind {kind} per_node {per_node}"));
            }
        }
    }
}

/// Where groups are even and costs exact, the bound is the optimum on all of these machines.
#[test]
fn bounds_are_exact_on_symmetric_machines() {
    for machine in [
        "package:2 numa:2 core:2",
        "package:2 numa:1 core:3",
        "package:3 numa:2 core:1",
        "package:2 numa:2 core:1 pu:2",
        "package:3 numa:1 core:3",
        "package:2 numa:1 core:2 pu:2",
    ] {
        for costs in [
            "send=60,120,200 receive=220,450,750",
            "send=250,260,280 receive=240,340,430",
            "send=10,20,70 receive=100,120,300",
            "send=90,100,110 receive=20,40,400",
        ] {
            let machine = corecast_model::synthetic(&format!("{machine} {costs}")).unwrap();
            for costs in [machine.costs().clone(), machine.costs().mirrored()] {
                let best = optimum(&costs, 0);
                assert_eq!(levels(&costs, Some(0), WORK), best);
                assert_eq!(levels(&costs, None, WORK), best);
                let found = certified(&costs, None, WORK).unwrap();
                assert_eq!((found.lower_bound, found.latency), (best, best));
            }
        }
    }
}

/// The latencies are those that an independent program has found.
#[test]
fn large_machines_reach_the_known_figures() {
    for (spec, latency) in [
        (
            "package:2 numa:4 core:8 send=60,120,200 receive=220,450,750",
            1750.0,
        ),
        (
            "package:2 numa:4 core:8 send=250,260,280 receive=240,340,430",
            2570.0,
        ),
        (
            "package:2 numa:8 core:16 send=60,120,200 receive=220,450,750",
            2030.0,
        ),
    ] {
        let machine = corecast_model::synthetic(spec).unwrap();
        for root in [None, Some(0), Some(machine.costs().n() - 1)] {
            let found = certified(machine.costs(), root, 10 * WORK).unwrap();
            assert_eq!(found.latency, latency, "{spec}");
            assert_eq!(found.lower_bound, latency, "{spec}");
        }
    }
}

/// Trees are good for teams with holes: the last groups are cut, and every seventh member is
/// missing.
#[test]
fn ragged_teams_have_good_trees() {
    let spec = "package:3 numa:3 core:7 send=60,120,200 receive=220,450,750";
    let machine = corecast_model::synthetic(spec).unwrap();
    for count in [5, 20, 33, 52, 63] {
        let team: Vec<usize> = (0..count).filter(|v| v % 7 != 3).collect();
        let costs = machine.costs().subset(&team).unwrap();
        for costs in [costs.clone(), costs.mirrored()] {
            for root in [None, Some(0), Some(team.len() - 1)] {
                let Some(found) = certified(&costs, root, WORK) else {
                    assert!(count < 8, "{count} members have levels");
                    continue;
                };
                assert_eq!(found.tree.len(), team.len());
                assert!(root.is_none_or(|root| found.tree.root() == root));
                assert!(close(found.latency, naive_broadcast(&costs, &found.tree)));
                assert!(found.lower_bound <= found.latency);
                let smelt = smelt::tree(&costs, found.tree.root());
                let smelt = cost::latency(&costs, &smelt, Operation::Broadcast);
                assert!(
                    found.latency <= smelt,
                    "{count}: {} > {smelt}",
                    found.latency
                );
                assert!(found.latency <= 1.15 * found.lower_bound, "{count}");
            }
        }
    }
}

#[test]
fn machines_without_levels_have_no_hierarchy() {
    for spec in ["core:1", "core:2", "core:9", "package:5"] {
        let machine = corecast_model::synthetic(spec).unwrap();
        assert_eq!(tree(machine.costs(), None), None, "{spec}");
        assert_eq!(certified(machine.costs(), Some(0), WORK), None, "{spec}");
        let quick = lower_bound(machine.costs(), Operation::Broadcast, None);
        assert_eq!(levels(machine.costs(), None, WORK), quick, "{spec}");
    }
}

#[test]
#[should_panic(expected = "root 4 is outside of a team of 4")]
fn roots_outside_are_refused() {
    let machine = corecast_model::synthetic("package:2 core:2").unwrap();
    let _ = tree(machine.costs(), Some(4));
}
