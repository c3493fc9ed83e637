//! Each pattern against its definition: every n up to 64, every root for small n.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::common::{any_costs, public_machines, tree_patterns};
use corecast_model::CostModel;
use corecast_plan::plan::plan_above_while;
use corecast_plan::{Operation, Pattern, RootChoice, Tree, patterns, plan};
use proptest::prelude::*;

/// Parents and child order by position, position v being rank (root + v) mod n.
fn check(n: usize, root: usize, tree: &Tree, children: impl Fn(usize) -> Vec<usize>) {
    assert_eq!((tree.len(), tree.root()), (n, root));
    for v in 0..n {
        let expected: Vec<usize> = children(v).iter().map(|c| (root + c) % n).collect();
        assert_eq!(
            tree.children((root + v) % n),
            expected,
            "n {n} root {root} position {v}"
        );
    }
}

fn teams() -> impl Iterator<Item = (usize, usize)> {
    (1..=64).flat_map(|n| {
        let roots = if n <= 16 { n } else { 1 };
        (0..roots)
            .chain((n > 16).then_some(n - 1))
            .map(move |root| (n, root))
    })
}

#[test]
fn binary_is_the_heap() {
    for (n, root) in teams() {
        let tree = patterns::binary(n, root);
        for v in 1..n {
            let parent = tree.parent((root + v) % n).unwrap();
            assert_eq!(parent, (root + (v - 1) / 2) % n);
        }
        check(n, root, &tree, |v| {
            [2 * v + 1, 2 * v + 2]
                .into_iter()
                .filter(|&c| c < n)
                .collect()
        });
    }
}

#[test]
fn chain_and_sequential() {
    for (n, root) in teams() {
        check(n, root, &patterns::chain(n, root), |v| {
            (v + 1..n.min(v + 2)).collect()
        });
        let star = patterns::sequential(n, root);
        check(n, root, &star, |v| {
            if v == 0 { (1..n).collect() } else { vec![] }
        });
    }
}

/// The lowest digit of `v` that is not 0, and its place value.
fn digit(v: usize, radix: usize) -> (usize, usize) {
    let mut place = 1;
    while (v / place).is_multiple_of(radix) {
        place *= radix;
    }
    (v / place % radix, place)
}

/// A position's parent is itself with its lowest digit that is not 0 set to 0.
#[test]
fn knomial_parents_lose_their_lowest_digit() {
    for (n, root) in teams() {
        for radix in 2..=n + 2 {
            let tree = patterns::knomial(n, root, radix);
            let parent = |v: usize| v - digit(v, radix).0 * digit(v, radix).1;
            for v in 1..n {
                assert_eq!(tree.parent((root + v) % n), Some((root + parent(v)) % n));
            }
            check(n, root, &tree, |v| {
                let mut children: Vec<usize> = (1..n).filter(|&c| parent(c) == v).collect();
                // Higher digits first, as they have more below them in a full tree.
                children.sort_by_key(|&c| (std::cmp::Reverse(digit(c, radix).1), c));
                children
            });
            let rounds = (0..).find(|&k| radix.pow(k) >= n).unwrap() as usize;
            assert!(tree.depth() <= rounds);
        }
        assert_eq!(
            patterns::knomial(n, root, usize::MAX),
            patterns::sequential(n, root)
        );
    }
}

/// The binomial tree by its recursion: a tree of 2^k is two of 2^(k−1), one root serving the other
/// first.
#[test]
fn binomial_doubles() {
    for k in 0..6 {
        let half = patterns::knomial(1 << k, 0, 2);
        let whole = patterns::knomial(2 << k, 0, 2);
        let shift = 1 << k;
        for v in 0..shift {
            let moved: Vec<usize> = half.children(v).iter().map(|c| c + shift).collect();
            assert_eq!(whole.children(v + shift), moved);
            let (first, rest) = whole.children(v).split_at(usize::from(v == 0));
            assert_eq!(first, if v == 0 { vec![shift] } else { vec![] });
            assert_eq!(rest, half.children(v));
        }
    }
}

/// A tree of order h has a left sub-tree of order h − 1 and a right one of order h − 2.
#[test]
fn fibonacci_by_its_recursion() {
    fn same(tree: &Tree, v: usize, order: usize) {
        let expected = order.min(2);
        assert_eq!(tree.children(v).len(), expected);
        for (k, &c) in tree.children(v).iter().enumerate() {
            same(tree, c, order - 1 - k);
        }
    }
    let (mut n, mut next) = (1, 2);
    for order in 0..12 {
        same(&patterns::fibonacci(n, 0), 0, order);
        (n, next) = (next, n + next + 1);
    }
}

/// For every n, members have two children at most, the left one never has less below it, and each
/// tree is the one before it with one leaf more.
#[test]
fn fibonacci_grows_by_a_leaf() {
    for (n, root) in teams() {
        let tree = patterns::fibonacci(n, root);
        let sizes = tree.subtree_sizes();
        for v in 0..n {
            let below: Vec<usize> = tree.children(v).iter().map(|&c| sizes[c]).collect();
            assert!(below.len() <= 2 && below.is_sorted_by(|a, b| a >= b));
        }
        if root == 0 && n > 1 {
            let before = patterns::fibonacci(n - 1, 0);
            for v in 0..n - 1 {
                let kept: Vec<usize> = tree
                    .children(v)
                    .iter()
                    .copied()
                    .filter(|&c| c < n - 1)
                    .collect();
                assert_eq!(before.children(v), kept);
            }
        }
    }
}

#[test]
fn cluster_is_binary_between_nodes_and_sequential_inside() {
    for (n, root) in teams() {
        for per_node in [1, 2, 3, 5, n] {
            let numa: Vec<u32> = (0..n).map(|i| (i / per_node) as u32).collect();
            let tree = patterns::cluster(&numa, root);
            let mut leaders = vec![root];
            let others = (0..n).step_by(per_node).filter(|&r| numa[r] != numa[root]);
            leaders.extend(others);
            for (v, &leader) in leaders.iter().enumerate() {
                let below = [2 * v + 1, 2 * v + 2].map(|c| leaders.get(c).copied());
                let mut expected: Vec<usize> = below.into_iter().flatten().collect();
                expected.extend((0..n).filter(|&r| numa[r] == numa[leader] && r != leader));
                assert_eq!(tree.children(leader), expected);
            }
            let crossing = (0..n).filter(|&r| tree.parent(r).is_some_and(|p| numa[p] != numa[r]));
            assert_eq!(
                crossing.count(),
                leaders.len() - 1,
                "one message into each node"
            );
        }
    }
}

/// Prim's algorithm by the book: each step takes the cheapest of all messages from inside to
/// outside.
fn naive_prim(costs: &CostModel, root: usize, degree_max: usize, sign: f64) -> Vec<Vec<usize>> {
    let n = costs.n();
    let mut lists = vec![Vec::new(); n];
    let mut inside = vec![root];
    while inside.len() < n {
        let mut all = Vec::new();
        for &i in inside.iter().filter(|&&i| lists[i].len() < degree_max) {
            for j in (0..n).filter(|j| !inside.contains(j)) {
                all.push((sign * (costs.send(i, j) + costs.receive(i, j)), i, j));
            }
        }
        let least = all
            .into_iter()
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        let (_, i, j) = least.unwrap();
        lists[i].push(j);
        inside.push(j);
    }
    lists
}

fn check_prim(costs: &CostModel, root: usize) {
    for degree_max in [1, 2, 3, usize::MAX] {
        let mst = patterns::mst(costs, root, degree_max);
        assert_eq!(mst.child_lists(), naive_prim(costs, root, degree_max, 1.0));
        let bad = patterns::bad(costs, root, degree_max);
        assert_eq!(bad.child_lists(), naive_prim(costs, root, degree_max, -1.0));
    }
}

/// "MST on the inverse costs": where no cost is 0, choosing the dearest is choosing the least
/// inverse.
#[test]
fn bad_is_the_mst_of_inverse_costs() {
    for machine in public_machines() {
        let costs = machine.costs();
        let inverse = CostModel::from_fn(
            costs.unit(),
            costs.numa_nodes().to_vec(),
            |i, j| 1.0 / (costs.send(i, j) + costs.receive(i, j)),
            |_, _| 0.0,
        )
        .unwrap();
        for root in 0..costs.n() {
            assert_eq!(
                patterns::bad(costs, root, 2),
                patterns::mst(&inverse, root, 2)
            );
            assert_eq!(
                patterns::bad(costs, root, 99),
                patterns::mst(&inverse, root, 99)
            );
        }
    }
}

#[test]
fn prim_on_every_n_up_to_64() {
    for n in 1..=64 {
        check_prim(
            &crate::common::costs_of_kind(n, n % 8, 4, n as u64 * 77),
            n / 2,
        );
    }
}

proptest! {
    #[test]
    fn prim_on_anything(costs in any_costs(20), root in any::<prop::sample::Index>()) {
        check_prim(&costs, root.index(costs.n()));
    }

    /// Every pattern spans every team from every root, and gives one tree when it is called twice.
    #[test]
    fn patterns_span(costs in any_costs(40), root in any::<prop::sample::Index>()) {
        let root = root.index(costs.n());
        for pattern in tree_patterns() {
            let tree = pattern.tree(&costs, root).unwrap();
            prop_assert_eq!((tree.len(), tree.root()), (costs.n(), root));
            prop_assert_eq!(pattern.tree(&costs, root), Some(tree.clone()));
            // Its child lists, read back, make an equal tree.
            let lists = tree.child_lists().to_vec();
            prop_assert_eq!(Tree::from_children(root, lists), Ok(tree.clone()));
            let mut served = BTreeMap::new();
            tree.child_lists().iter().flatten().for_each(|&c| *served.entry(c).or_insert(0) += 1);
            prop_assert!(served.len() == costs.n() - 1 && served.values().all(|&times| times == 1));
        }
    }
}

/// What takes seconds in teams of thousands ends at any look of a watcher, and is the same where nobody ends it.
#[test]
fn patterns_that_look_at_all_costs_are_watched() {
    let machine = corecast_model::synthetic("package:2 numa:2 core:64").unwrap();
    let (costs, root) = (machine.costs(), 3);
    let slow = [
        Pattern::Smelt,
        Pattern::Mst,
        Pattern::MstBinary,
        Pattern::Bad,
        Pattern::BadBinary,
        Pattern::Dissemination { radix: 2 },
    ];
    for operation in Operation::ALL {
        for pattern in slow {
            let watched = |go_on: &mut dyn FnMut() -> ControlFlow<()>| {
                plan_above_while(costs, pattern, operation, root, 0.0, go_on)
            };
            let mut looks = 0;
            let found = watched(&mut || {
                looks += 1;
                ControlFlow::Continue(())
            });
            // Rounds are barriers only.
            let Ok(found) = found else {
                assert!(plan(costs, pattern, operation, RootChoice::Rank(root)).is_err());
                continue;
            };
            let expected = plan(costs, pattern, operation, RootChoice::Rank(root)).unwrap();
            assert_eq!(
                found.unwrap().shape,
                expected.shape,
                "{operation} {pattern}"
            );
            assert!(looks > 2, "{operation} {pattern}: {looks} looks");
            for end in [0, looks / 2, looks - 1] {
                let mut left = end;
                let cut = watched(&mut || match left {
                    0 => ControlFlow::Break(()),
                    _ => {
                        left -= 1;
                        ControlFlow::Continue(())
                    }
                });
                let what = format!("{operation} {pattern}, look {end} of {looks}");
                match cut.unwrap() {
                    None => assert!(expected.rounds().is_none(), "{what}"),
                    // What ends early is the bound.
                    Some(cut) => {
                        assert_eq!(cut.shape, expected.shape, "{what}");
                        assert_eq!(cut.lower_bound, 0.0, "{what}");
                    }
                }
            }
        }
    }
}
