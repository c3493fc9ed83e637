//! The cost of trees against naive references written from the definitions.

use crate::common::{any_costs, close, naive_broadcast, naive_reduce};
use corecast_model::CostModel;
use corecast_plan::cost::{BusyKind, broadcast_avail, latency, timeline};
use corecast_plan::order::best_order;
use corecast_plan::{Operation, Tree, reroot};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Any tree over the members of a model.
fn any_tree(n: usize) -> impl Strategy<Value = Tree> {
    let parents = prop::collection::vec(any::<prop::sample::Index>(), n);
    let order = Just((0..n).collect::<Vec<_>>()).prop_shuffle();
    (parents, order).prop_map(move |(parents, order)| {
        let mut lists = vec![Vec::new(); n];
        for k in 1..n {
            let parent = order[parents[k].index(k)];
            lists[parent].push(order[k]);
        }
        Tree::from_children(order[0], lists).unwrap()
    })
}

fn costs_and_tree() -> impl Strategy<Value = (CostModel, Tree)> {
    any_costs(24).prop_flat_map(|costs| {
        let n = costs.n();
        (Just(costs), any_tree(n))
    })
}

#[test]
fn smelts_example_by_hand() {
    // Root 0 serves 1 then 2; 1 serves 3. send = 10, receive = 30.
    let machine = corecast_model::synthetic("core:4 send=10 receive=30").unwrap();
    let tree = Tree::from_children(0, vec![vec![1, 2], vec![3], vec![], vec![]]).unwrap();
    let costs = machine.costs();
    assert_eq!(broadcast_avail(costs, &tree), [0.0, 40.0, 50.0, 80.0]);
    // 1 takes 3 at 10..40 and sends until 50; 0 takes 1 at 50..80, then 2 at 80..110.
    assert_eq!(latency(costs, &tree, Operation::Reduce), 110.0);
    // The fan-in takes 2 first, at 10..40, and 1 at 50..80.
    assert_eq!(latency(costs, &tree, Operation::Barrier), 80.0 + 80.0);
}

proptest! {
    #[test]
    fn latencies_agree_with_the_definitions((costs, tree) in costs_and_tree()) {
        let broadcast = latency(&costs, &tree, Operation::Broadcast);
        prop_assert!(close(broadcast, naive_broadcast(&costs, &tree)));
        let reduce = latency(&costs, &tree, Operation::Reduce);
        prop_assert!(close(reduce, naive_reduce(&costs, &tree)));
        let inward = latency(&costs, &tree.reversed(), Operation::Reduce);
        prop_assert!(close(latency(&costs, &tree, Operation::Barrier), inward + broadcast));
    }

    /// A tree with another root: the same edges, or one between the two roots in place of that above the new root.
    #[test]
    fn other_roots_have_the_same_edges_or_one_to_the_old_root((costs, tree) in costs_and_tree()) {
        let edges = |tree: &Tree| -> BTreeSet<(usize, usize)> {
            let above = |rank| Some((rank, tree.parent(rank)?));
            let ordered = |(a, b): (usize, usize)| (a.min(b), a.max(b));
            (0..tree.len()).filter_map(above).map(ordered).collect()
        };
        for root in 0..tree.len() {
            for operation in [Operation::Broadcast, Operation::Reduce] {
                let rehung = reroot::rehung(&tree, root, operation);
                prop_assert_eq!(edges(&rehung), edges(&tree));
                let copied = reroot::copied(&tree, root, operation);
                let mut swapped = edges(&tree);
                if let Some(parent) = tree.parent(root) {
                    swapped.remove(&(root.min(parent), root.max(parent)));
                    swapped.insert((root.min(tree.root()), root.max(tree.root())));
                }
                prop_assert_eq!(edges(&copied), swapped);
                prop_assert_eq!((rehung.root(), copied.root()), (root, root));
                let naive = |tree: &Tree| match operation {
                    Operation::Reduce => naive_reduce(&costs, tree),
                    _ => naive_broadcast(&costs, tree),
                };
                let other = reroot::OtherRoot::new(&costs, &tree, operation, root);
                prop_assert!(close(other.rehung, naive(&rehung)));
                prop_assert!(close(other.copied, naive(&copied)));
                // One rank more is between the operation's root and the rest, at most.
                let depths = (copied.depth(), tree.depth());
                prop_assert!(depths.0 <= depths.1 + 1, "{depths:?}");
            }
        }
    }

    /// Read backwards in time, a reduction is a broadcast with swapped roles.
    #[test]
    fn reduction_mirrors_broadcast((costs, tree) in costs_and_tree()) {
        let forward = latency(&costs.mirrored(), &tree, Operation::Broadcast);
        prop_assert!(close(latency(&costs, &tree.reversed(), Operation::Reduce), forward));
    }

    /// Nobody does two things at once, and every message has two ends of the right length.
    #[test]
    fn timelines_are_consistent((costs, tree) in costs_and_tree()) {
        for operation in Operation::ALL {
            let line = timeline(&costs, &tree, operation);
            prop_assert!(close(line.latency, latency(&costs, &tree, operation)));
            let mut messages = 0;
            for (rank, busy) in line.busy.iter().enumerate() {
                let mut clock = 0.0;
                for b in busy {
                    prop_assert!(b.start >= clock - 1e-9 * clock && b.end >= b.start);
                    clock = b.end;
                    let (from, to) = match b.kind {
                        BusyKind::Send => (rank, b.peer),
                        BusyKind::Receive => (b.peer, rank),
                    };
                    let cost = match b.kind {
                        BusyKind::Send => costs.send(from, to),
                        BusyKind::Receive => costs.receive(from, to),
                    };
                    prop_assert!((b.end - b.start - cost).abs() <= 1e-9 * b.end.max(1.0));
                    if b.kind == BusyKind::Send {
                        messages += 1;
                        let other = line.busy[to].iter().filter(|o| {
                            o.kind == BusyKind::Receive && o.peer == from && o.start >= b.end
                        });
                        prop_assert_eq!(other.count(), 1);
                    }
                }
                prop_assert!(clock <= line.latency * (1.0 + 1e-9));
            }
            let ways = if operation == Operation::Barrier { 2 } else { 1 };
            prop_assert_eq!(messages, ways * (tree.len() - 1));
        }
    }

    /// No order of any child list beats the best one, checked by trying all for small trees.
    #[test]
    fn best_order_is_best((costs, tree) in any_costs(6).prop_flat_map(|costs| {
        let n = costs.n();
        (Just(costs), any_tree(n))
    })) {
        for operation in [Operation::Broadcast, Operation::Reduce] {
            let best = latency(&costs, &best_order(&costs, &tree, operation), operation);
            let mut orders = vec![tree.child_lists().to_vec()];
            for v in 0..tree.len() {
                let each = orders.iter().flat_map(|lists| {
                    permutations(&lists[v]).into_iter().map(|list| {
                        let mut lists = lists.clone();
                        lists[v] = list;
                        lists
                    })
                });
                orders = each.collect();
            }
            let all = orders.into_iter().map(|lists| {
                latency(&costs, &Tree::from_children(tree.root(), lists).unwrap(), operation)
            });
            prop_assert!(close(best, all.fold(f64::INFINITY, f64::min)));
        }
    }
}

fn permutations(list: &[usize]) -> Vec<Vec<usize>> {
    if list.is_empty() {
        return vec![vec![]];
    }
    let mut all = Vec::new();
    for (at, &first) in list.iter().enumerate() {
        let rest: Vec<usize> = list
            .iter()
            .enumerate()
            .filter(|&(i, _)| i != at)
            .map(|(_, &x)| x)
            .collect();
        for mut tail in permutations(&rest) {
            tail.insert(0, first);
            all.push(tail);
        }
    }
    all
}
