//! Every bound against the exact optimum of thousands of small teams, every n up to 8.
//!
//! Three oracles, each tested by the one before: all ordered trees (`bounds.rs`, n up to 6), all
//! labelled trees with child lists in their exact order (n = 7 and 8), and the dynamic program over
//! sets of members that checks the bounds.

use crate::common::adversary::{KINDS, costs};
use crate::common::oracle::{both_ways, oracle, truth};
use crate::common::{all_ordered_trees, close, optima};
use corecast_model::CostModel;
use corecast_plan::bound::{any_barrier, levels, lower_bound};
use corecast_plan::{Operation, Pattern, RootChoice, check, plan};

/// Seeds for each of 15 kinds and each n up to 8. Each seed has 6 optima, which makes 18,000
/// bounds.
const SEEDS: u64 = 25;

#[test]
fn the_combined_bound_holds() {
    let verdict = oracle(8, SEEDS, lower_bound).unwrap();
    println!("{verdict:?}");
    assert!(
        verdict.mean > 0.6 && 3 * verdict.tight > verdict.tried,
        "{verdict:?}"
    );
}

#[test]
fn the_bound_by_levels_holds() {
    for work in [100, 100_000] {
        let verdict = oracle(8, 6, both_ways(|costs, root| levels(costs, root, work))).unwrap();
        println!("work {work}: {verdict:?}");
        assert!(verdict.mean > 0.5, "{verdict:?}");
    }
}

/// The oracle accepts the optimum itself, and refuses a bound that is above it, however seldom.
#[test]
fn the_oracle_is_awake() {
    let exact = |costs: &CostModel, root: Option<usize>| {
        let least = optima(costs);
        root.map_or_else(
            || least.iter().copied().fold(f64::INFINITY, f64::min),
            |r| least[r],
        )
    };
    let verdict = oracle(5, 3, both_ways(exact)).unwrap();
    // A barrier's fan-in and fan-out may be best from different roots.
    assert!(10 * verdict.tight > 9 * verdict.tried, "{verdict:?}");
    oracle(
        5,
        3,
        both_ways(|costs, root| exact(costs, root) * (1.0 + 1e-6)),
    )
    .unwrap_err();
    // This bound is above the optimum for one kind alone, and there only with a free root.
    let rare = both_ways(|costs, root| {
        let is_dead = costs
            .send_matrix()
            .rows()
            .flatten()
            .any(|&cost| cost > 1e6 && cost < 2e6);
        let fault = if is_dead && root.is_none() {
            1.001
        } else {
            1.0
        };
        exact(costs, root) * fault
    });
    let error = oracle(5, 3, rare).unwrap_err();
    assert!(
        error.contains("one dead member") && error.contains("None"),
        "{error}"
    );
    oracle(3, 1, |_, _, _| f64::NAN).unwrap_err();
    oracle(3, 1, |_, _, _| -1.0).unwrap_err();
}

/// All labelled trees over n members, as the neighbours of each, by Prüfer's code.
fn all_labelled_trees(n: usize, mut each: impl FnMut(&[Vec<usize>])) {
    let length = n.saturating_sub(2);
    for code in 0..n.pow(length as u32) {
        let code: Vec<usize> = (0..length).map(|k| code / n.pow(k as u32) % n).collect();
        let mut left = vec![1; n];
        code.iter().for_each(|&v| left[v] += 1);
        let mut near = vec![Vec::new(); n];
        let mut join = |a: usize, b: usize| {
            near[a].push(b);
            near[b].push(a);
        };
        for &v in &code {
            let leaf = left.iter().position(|&l| l == 1).unwrap();
            join(leaf, v);
            left[leaf] -= 1;
            left[v] -= 1;
        }
        let mut last = (0..n).filter(|&v| left[v] == 1);
        if let (Some(a), Some(b)) = (last.next(), last.next()) {
            join(a, b);
        }
        each(&near);
    }
}

/// Latency of the broadcast below v over these edges, where the neighbour that needs longest is
/// served first.
fn below(costs: &CostModel, near: &[Vec<usize>], v: usize, parent: usize) -> f64 {
    let mut tails: Vec<(f64, f64)> = Vec::with_capacity(near[v].len());
    for &c in near[v].iter().filter(|&&c| c != parent) {
        let tail = costs.receive(v, c) + below(costs, near, c, v);
        tails.push((tail, costs.send(v, c)));
    }
    tails.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut clock = 0.0;
    tails.iter().fold(0.0, |last: f64, &(tail, send)| {
        clock += send;
        last.max(clock + tail)
    })
}

fn least_labelled(costs: &CostModel, root: usize) -> f64 {
    let mut least = f64::INFINITY;
    all_labelled_trees(costs.n(), |near| {
        least = least.min(below(costs, near, root, usize::MAX));
    });
    least
}

#[test]
fn labelled_trees_in_exact_order_are_as_good_as_ordered_ones() {
    // There are as many trees as Cayley's formula says, and each occurs once.
    for (n, expected) in [(2, 1), (3, 3), (4, 16), (5, 125), (6, 1296)] {
        let mut all = Vec::new();
        all_labelled_trees(n, |near| {
            let mut near = near.to_vec();
            near.iter_mut().for_each(|list| list.sort_unstable());
            all.push(near);
        });
        all.sort();
        all.dedup();
        assert_eq!(all.len(), expected);
    }
    let ordered: Vec<_> = (1..=5).map(all_ordered_trees).collect();
    for (name, make) in KINDS {
        for n in 2..=5 {
            let costs = costs(make, n, 7);
            let each = ordered[n - 1].iter().map(|lists| {
                check::tree(&costs, Operation::Broadcast, 0, lists)
                    .unwrap()
                    .latency
            });
            let least = each.fold(f64::INFINITY, f64::min);
            assert!(close(least, least_labelled(&costs, 0)), "{name}, n {n}");
        }
    }
}

#[test]
fn the_dynamic_program_finds_the_best_labelled_tree() {
    for (at, (name, make)) in KINDS.into_iter().enumerate() {
        let costs = costs(make, 7, 11);
        let root = at % 7;
        let least = least_labelled(&costs, root);
        assert!(close(optima(&costs)[root], least), "{name}");
    }
    for (name, make) in [KINDS[5], KINDS[11]] {
        let costs = costs(make, 8, 3);
        let least = least_labelled(&costs, 2);
        assert!(close(optima(&costs)[2], least), "{name}");
    }
}

/// A barrier over two trees is a reduction and a broadcast with one root, whatever the trees: the
/// least sum over all pairs of ordered trees is the sum of the least.
#[test]
fn two_trees_cannot_beat_the_sum_of_both_optima() {
    let trees = all_ordered_trees(4);
    for (name, make) in KINDS {
        let costs = costs(make, 4, 5);
        let mut least = f64::INFINITY;
        for inward in &trees {
            for outward in &trees {
                let both = check::two_trees(&costs, 0, inward, outward).unwrap();
                least = least.min(both.latency);
            }
        }
        let known = truth(&costs, 0);
        let sum = known
            .iter()
            .find(|case| (case.0, case.1) == (Operation::Barrier, Some(0)));
        assert!(close(least, sum.unwrap().2), "{name}");
        assert!(lower_bound(&costs, Operation::Barrier, Some(0)) <= least * (1.0 + 1e-9));
        // The bound of any barrier also covers one tree for both ways, and rounds, which have no
        // root.
        assert!(any_barrier(&costs) <= least * (1.0 + 1e-9), "{name}");
    }
}

/// Every pattern on every kind: the checker agrees, nothing beats the optimum, no claim is wrong.
#[test]
fn plans_of_adversarial_costs_are_right() {
    let names = Pattern::names().into_iter();
    let patterns: Vec<Pattern> = names
        .map(|name| {
            name.replace('K', "3")
                .replace("A/B/C", "binomial/flat/planned")
                .parse()
                .unwrap()
        })
        .collect();
    for (name, make) in KINDS {
        let mut random = fastrand::Rng::with_seed(23);
        for n in [1, 2, 3, 6, 8] {
            let costs = costs(make, n, random.u64(..));
            let root = random.usize(..n);
            let known = truth(&costs, root);
            for (pattern, operation) in patterns
                .iter()
                .flat_map(|&p| Operation::ALL.map(|o| (p, o)))
            {
                let Ok(made) = plan(&costs, pattern, operation, RootChoice::Rank(root)) else {
                    continue;
                };
                let what = format!("{name}, n {n}, {pattern}, {operation}");
                if let Err(error) = check::plan(&costs, &made) {
                    panic!("{what}: {error}");
                }
                if made.rounds().is_some() {
                    assert_eq!(operation, Operation::Barrier);
                    continue;
                }
                let least = known
                    .iter()
                    .find(|k| (k.0, k.1) == (operation, Some(root)))
                    .unwrap()
                    .2;
                assert!(
                    made.latency >= least * (1.0 - 1e-9),
                    "{what}: {} < {least}",
                    made.latency
                );
                assert!(made.lower_bound <= least * (1.0 + 1e-9), "{what}");
                assert!(!made.proved_optimal || close(made.latency, least), "{what}");
            }
        }
    }
}
