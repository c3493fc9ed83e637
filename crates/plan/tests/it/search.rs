//! The search against an exact dynamic program, its own promises, and the best known figures.

use std::ops::ControlFlow;

use crate::common::{
    close, costs_of_kind, naive_broadcast, naive_reduce, optimum, public_machines,
};
use corecast_model::{CostModel, Unit, synthetic};
use corecast_plan::search::{Effort, SearchProgress, construct, improve, improve_barrier};
use corecast_plan::{Pattern, Tree, smelt};

fn go_on(_: &SearchProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn searched(costs: &CostModel, root: Option<usize>, seed: u64, moves: u64) -> Tree {
    let start = construct(costs, root);
    let effort = Effort { seed, moves };
    improve(costs, &start, root.is_none(), 0.0, effort, &mut go_on)
}

#[test]
fn small_teams_are_solved_and_the_optimum_is_never_beaten() {
    let (mut solved, mut all) = (0, 0);
    for seed in 0..160_u64 {
        let (n, kind) = (2 + (seed % 7) as usize, (seed / 7 % 8) as usize);
        let costs = costs_of_kind(n, kind, 1 + (seed % 4) as u32, seed * 77 + 5);
        let roots: Vec<f64> = (0..n).map(|root| optimum(&costs, root)).collect();
        let least = roots.iter().copied().fold(f64::INFINITY, f64::min);
        for (root, best) in [(Some(n - 1), roots[n - 1]), (None, least)] {
            let tree = searched(&costs, root, seed, 40_000);
            assert!(root.is_none_or(|root| tree.root() == root));
            let found = naive_broadcast(&costs, &tree);
            assert!(
                found >= best || close(found, best),
                "{found} beats the optimum {best}"
            );
            all += 1;
            solved += usize::from(close(found, best));
        }
    }
    assert!(solved * 100 >= all * 98, "only {solved} of {all} solved");
}

#[test]
fn two_trees_are_as_good_as_the_optimum_of_both_ways() {
    for seed in 0..24_u64 {
        let n = 3 + (seed % 4) as usize;
        let costs = costs_of_kind(n, (seed % 8) as usize, 2, seed + 31);
        let both = |root| optimum(&costs, root) + optimum(&costs.mirrored(), root);
        let least = (0..n).map(both).fold(f64::INFINITY, f64::min);
        for root in [Some(1), None] {
            let effort = Effort {
                seed,
                moves: 200_000,
            };
            let found = improve_barrier(&costs, root, 0.0, effort, &mut go_on);
            assert_eq!(found.inward.root(), found.outward.root());
            assert!(root.is_none_or(|root| found.inward.root() == root));
            let inward = naive_reduce(&costs, &found.inward);
            let latency = inward + naive_broadcast(&costs, &found.outward);
            assert!(close(latency, found.latency));
            let best = root.map_or(least, both);
            assert!(
                close(latency, best),
                "{latency} instead of {best}, root {root:?}"
            );
        }
    }
}

#[test]
fn odd_costs_are_searched_like_any_others() {
    let flat = |n: usize, cost: f64| {
        CostModel::from_fn(Unit::Cycles, vec![0; n], |_, _| cost, |_, _| cost).unwrap()
    };
    let outlier = |i: usize, j: usize| if (i, j) == (2, 5) { 1e15 } else { 10.0 };
    let alone = (0..9).collect::<Vec<u32>>();
    let models = [
        flat(1, 1.0),
        flat(2, 3.0),
        flat(3, 0.0),
        flat(12, 0.0),
        flat(12, 1e15),
        CostModel::from_fn(Unit::Cycles, vec![0; 9], outlier, outlier).unwrap(),
        CostModel::from_fn(Unit::Cycles, alone, outlier, outlier).unwrap(),
        costs_of_kind(20, 5, 4, 1),
    ];
    for costs in &models {
        for root in [Some(costs.n() - 1), None] {
            let start = construct(costs, root);
            let tree = searched(costs, root, 1, 3000);
            assert_eq!(tree.len(), costs.n());
            assert!(root.is_none_or(|root| tree.root() == root));
            assert!(naive_broadcast(costs, &tree) <= naive_broadcast(costs, &start));
            let effort = Effort {
                seed: 1,
                moves: 3000,
            };
            let both = improve_barrier(costs, root, 0.0, effort, &mut go_on);
            assert_eq!(both.inward.len(), costs.n());
        }
    }
}

#[test]
fn a_seed_and_a_number_of_moves_decide_the_result() {
    let machine = synthetic("package:2 numa:2 core:5 send=60,120,200 receive=220,450,750").unwrap();
    let costs = costs_of_kind(20, 0, 5, 3);
    for costs in [machine.costs(), &costs] {
        let start = smelt::base(costs, 3);
        for free_root in [false, true] {
            let effort = Effort {
                seed: 5,
                moves: 20_000,
            };
            let first = improve(costs, &start, free_root, 0.0, effort, &mut go_on);
            let again = improve(costs, &start, free_root, 0.0, effort, &mut go_on);
            assert_eq!(first, again);
            // An endless search that is ended by its watcher has the result of one with as many
            // moves.
            let endless = Effort {
                moves: u64::MAX,
                ..effort
            };
            let mut until = |p: &SearchProgress| match p.moves < 20_224 {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            };
            let stopped = improve(costs, &start, free_root, 0.0, endless, &mut until);
            let exactly = Effort {
                moves: 20_224,
                ..effort
            };
            assert_eq!(
                stopped,
                improve(costs, &start, free_root, 0.0, exactly, &mut go_on)
            );
        }
    }
}

#[test]
fn a_search_only_gets_better_and_ends_when_told() {
    for seed in 0..40_u64 {
        let n = 4 + (seed % 30) as usize;
        let costs = costs_of_kind(n, (seed % 8) as usize, 4, seed);
        let start = Pattern::Binomial.tree(&costs, n / 2).unwrap();
        let first = naive_broadcast(&costs, &start);
        let (mut last, mut looks) = (first, 0);
        let effort = Effort {
            seed,
            moves: u64::MAX,
        };
        let tree = improve(&costs, &start, false, 0.0, effort, &mut |progress| {
            assert!(progress.latency <= last || close(progress.latency, last));
            last = progress.latency;
            looks += 1;
            match looks < 20 {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        assert_eq!(tree.root(), n / 2);
        assert!(naive_broadcast(&costs, &tree) <= first);
        assert!(close(naive_broadcast(&costs, &tree), last));
        // A search that starts at its bound ends at once.
        let mut asked = |_: &SearchProgress| -> ControlFlow<()> { panic!("asked for no reason") };
        let same = improve(
            &costs,
            &tree,
            false,
            last * (1.0 + 1e-9),
            effort,
            &mut asked,
        );
        assert_eq!(same, tree);
    }
}

#[test]
fn large_teams_gain_from_any_start() {
    for cores in [8, 32] {
        let spec = format!("package:2 numa:4 core:{cores} send=60,120,200 receive=220,450,750");
        let machine = synthetic(&spec).unwrap();
        let start = smelt::base(machine.costs(), 0);
        let effort = Effort {
            seed: 1,
            moves: 20_000,
        };
        let tree = improve(machine.costs(), &start, false, 0.0, effort, &mut go_on);
        let latency = |tree: &Tree| naive_broadcast(machine.costs(), tree);
        assert!(latency(&tree) < 0.95 * latency(&start), "{spec}");
    }
}

#[test]
fn the_public_machines_come_within_half_a_per_cent_of_the_best_known() {
    // Best known latencies with Smelt's root: broadcast and reduction.
    let known = [
        ("bloomfield-2x4x2", 447.64, 416.24),
        ("shanghai-4x4", 1402.32, 1230.5),
        ("ivybridge-2x10", 1304.16, 1790.6),
        ("istanbul-4x6", 2573.0, 2795.5),
        ("nehalem-4x8", 808.9, 1438.0),
        ("barcelona-8x4", 2419.9, 2527.1),
        ("magnycours-4x12", 2429.5, 2689.0),
    ];
    for file in public_machines() {
        let costs = file.costs();
        let name = &file.machine().name;
        let Some(&(_, broadcast, reduction)) = known.iter().find(|(known, ..)| name == known)
        else {
            panic!("no figure for {name}");
        };
        for (costs, best) in [(costs, broadcast), (&costs.mirrored(), reduction)] {
            let root = Some(smelt::root(file.costs()));
            let within = |seed| {
                let tree = searched(costs, root, seed, 1_500_000);
                naive_broadcast(costs, &tree)
            };
            // One seed may end in a poor local optimum, so up to four are tried.
            let found = (1..=4).map(within).find(|&found| found <= 1.005 * best);
            assert!(found.is_some(), "{name}: above 1.005 of {best}");
        }
    }
}
