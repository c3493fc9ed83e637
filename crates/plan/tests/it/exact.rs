//! Proofs against the optimum of thousands of small teams, and on the seven public machines.

use std::ops::ControlFlow;

use crate::common::adversary::{KINDS, costs};
use crate::common::oracle::{both_ways, oracle};
use crate::common::{close, optima, public_machines, random_team};
use corecast_model::{CostModel, Unit};
use corecast_plan::exact::{Limits, Proof, prove};
use corecast_plan::search::{Effort, construct, improve};
use corecast_plan::{Operation, Pattern, Plan, Tree, check, cost, smelt};

fn prove_with(costs: &CostModel, root: Option<usize>, upper: &Tree, limits: Limits) -> Proof {
    prove(costs, root, upper, 0.0, limits, &mut |_, _| {
        ControlFlow::Continue(())
    })
}

/// A bad tree, a fair one and a good one to start from, so that limits are far from the optimum and
/// near.
fn starts(costs: &CostModel, root: Option<usize>) -> Vec<Tree> {
    let at = root.unwrap_or(costs.n() - 1);
    let chain = Pattern::Chain.tree(costs, at).unwrap();
    let good = construct(costs, root);
    let effort = Effort {
        seed: 3,
        moves: 300,
    };
    let better = improve(costs, &good, root.is_none(), 0.0, effort, &mut |_| {
        ControlFlow::Continue(())
    });
    vec![chain, smelt::tree(costs, at), better]
}

/// A proof that lacks memory ends with a bound, as one that lacks work does.
#[test]
fn proofs_end_where_memory_does() {
    let all = Limits::default();
    let scarce = [
        Limits { memory: 0, ..all },
        Limits {
            memory: 4 << 10,
            ..all
        },
        Limits {
            memory: 0,
            work: 1,
            ..all
        },
    ];
    for (limits, root) in scarce.map(|l| [(l, None), (l, Some(2))]).concat() {
        let costs = costs(KINDS[0].1, 8, 5);
        let upper = Pattern::Chain.tree(&costs, root.unwrap_or(2)).unwrap();
        let proof = prove_with(&costs, root, &upper, limits);
        let all = optima(&costs);
        let least = root.map_or_else(|| all.iter().copied().fold(f64::MAX, f64::min), |r| all[r]);
        assert!(proof.lower_bound <= least * (1.0 + 1e-9), "{proof:?}");
    }
}

/// For every kind, every n up to 8, and a fixed and a free root, the proof ends at the optimum.
#[test]
fn proofs_end_at_the_optimum() {
    let (mut tried, mut improved) = (0, 0);
    for n in 1..=8 {
        for kind in KINDS {
            for seed in 0..if n < 7 { 8 } else { 5 } {
                let costs = costs(kind.1, n, seed);
                let best = optima(&costs);
                let free = best.iter().copied().fold(f64::INFINITY, f64::min);
                for (root, best) in [(None, free), (Some(0), best[0]), (Some(n - 1), best[n - 1])] {
                    for upper in starts(&costs, root) {
                        let proof = prove_with(&costs, root, &upper, Limits::default());
                        let tree = proof.tree.as_ref().unwrap_or(&upper);
                        let latency = cost::latency(&costs, tree, Operation::Broadcast);
                        let what = format!(
                            "{} n {n} seed {seed} root {root:?}: {proof:?}, optimum {best}",
                            kind.0
                        );
                        assert!(proof.optimal, "{what}");
                        assert!((latency - best).abs() <= 1e-7 * best, "{what} {latency}");
                        assert!(proof.lower_bound <= best * (1.0 + 1e-12), "{what}");
                        assert!(proof.lower_bound >= best * (1.0 - 1e-7), "{what}");
                        assert!(root.is_none_or(|root| root == tree.root()), "{what}");
                        tried += 1;
                        improved += usize::from(proof.tree.is_some());
                    }
                }
            }
        }
    }
    println!("{tried} proofs, {improved} met a better tree");
    assert!(3 * improved > tried);
}

/// Proofs that are cut short have bounds too.
#[test]
fn unfinished_proofs_hold() {
    for work in [0, 300, 3000] {
        let bound = both_ways(|costs: &CostModel, root| {
            let upper = smelt::tree(costs, root.unwrap_or(0));
            let limits = Limits {
                work,
                ..Limits::default()
            };
            prove_with(costs, root, &upper, limits).lower_bound
        });
        let verdict = oracle(8, 4, bound).unwrap();
        println!("work {work}: {verdict:?}");
    }
    let costs = costs(KINDS[0].1, 8, 1);
    let upper = smelt::tree(&costs, 0);
    let limits = Limits {
        memory: 0,
        ..Limits::default()
    };
    assert!(prove_with(&costs, Some(0), &upper, limits).lower_bound <= optima(&costs)[0]);
}

/// On larger random teams of the public machines, the proof's latency is that of an independent
/// evaluation of its tree, and no search finds a better tree.
#[test]
fn teams_of_public_machines_are_solved() {
    for machine in public_machines() {
        for n in [8, 10, 12] {
            let seeds = n as u64..;
            let mut teams = seeds.map(|seed| random_team(machine.costs().n(), seed));
            let team = teams.find(|team| team.len() >= n).unwrap();
            let costs = machine.costs().subset(&team[..n]).unwrap();
            for costs in [costs.mirrored(), costs] {
                let upper = smelt::tree(&costs, 0);
                let proof = prove_with(&costs, Some(0), &upper, Limits::default());
                assert!(proof.optimal, "{proof:?}");
                let best = proof.tree.unwrap_or(upper);
                let plan =
                    Plan::of_tree(&costs, Pattern::Optimal, Operation::Broadcast, best).unwrap();
                check::plan(&costs, &plan).unwrap();
                assert!(close(plan.latency, proof.lower_bound));
                let effort = Effort {
                    seed: 9,
                    moves: 20_000,
                };
                let found = improve(
                    &costs,
                    &construct(&costs, Some(0)),
                    false,
                    0.0,
                    effort,
                    &mut |_| ControlFlow::Continue(()),
                );
                let found = cost::latency(&costs, &found, Operation::Broadcast);
                assert!(
                    found >= proof.lower_bound * (1.0 - 1e-9),
                    "{found} {}",
                    proof.lower_bound
                );
            }
        }
    }
}

/// Proofs on the public machines with 16 members, as a whole.
#[test]
fn sixteen_members_are_solved() {
    for machine in public_machines().iter().filter(|m| m.costs().n() == 16) {
        let costs = machine.costs();
        let root = smelt::root(costs);
        let proof = prove_with(
            costs,
            Some(root),
            &construct(costs, Some(root)),
            Limits::default(),
        );
        println!(
            "{}: {} with {} splits",
            machine.machine().name,
            proof.lower_bound,
            proof.work
        );
        assert!(proof.optimal);
        let known = match machine.machine().name.as_str() {
            "bloomfield-2x4x2" => 447.645,
            "shanghai-4x4" => 1402.317,
            other => panic!("{other} has 16 members?"),
        };
        assert!(
            (proof.lower_bound - known).abs() < 0.01,
            "{}",
            proof.lower_bound
        );
    }
}

/// A watcher sees work and bound only rise, also when the start tree is so bad that costs are
/// counted anew for a better one.
#[test]
fn progress_never_goes_back() {
    let cost = |i: usize, j: usize| match () {
        () if i == j => 0.0,
        () if i + 1 == j => 436.7 + 0.3 * (i as f64).sqrt(),
        () => 1e15,
    };
    let matrix: Vec<Vec<f64>> = (0..7)
        .map(|i| (0..7).map(|j| cost(i, j)).collect())
        .collect();
    let costs = CostModel::new(Unit::Cycles, matrix.clone(), matrix, vec![0; 7]).unwrap();
    let upper = Pattern::Sequential.tree(&costs, 0).unwrap();
    let limits = Limits {
        multipliers_first: true,
        ..Limits::default()
    };
    let mut seen = vec![(0, 0.0)];
    let proof = prove(&costs, Some(0), &upper, 0.0, limits, &mut |bound, work| {
        seen.push((work, bound));
        ControlFlow::Continue(())
    });
    assert!(proof.optimal && proof.lower_bound < 1e4, "{proof:?}");
    let rises = |pair: &[(u64, f64)]| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1;
    assert!(seen.len() > 2 && seen.windows(2).all(rises), "{seen:?}");
}

#[test]
fn a_watcher_is_obeyed() {
    let machine =
        corecast_model::synthetic("package:2 numa:2 core:8 send=60,120,200 receive=220,450,750")
            .unwrap();
    let costs = machine.costs();
    let upper = Pattern::Chain.tree(costs, 0).unwrap();
    let mut seen = Vec::new();
    let proof = prove(
        costs,
        Some(0),
        &upper,
        0.0,
        Limits::default(),
        &mut |bound, work| {
            seen.push((bound, work));
            if seen.len() < 3 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        },
    );
    assert!(seen.len() <= 3 && seen.is_sorted());
    assert!(proof.optimal || proof.work > 0);
}
