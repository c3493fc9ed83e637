//! Parts that the integration tests share: cost models to try, and naive references of the clever
//! parts.

use crate::references::machine_database;
use corecast_model::{CostModel, MachineFile, Unit};
use corecast_plan::{Pattern, Tree};
use fastrand::Rng;
use proptest::prelude::*;

pub(crate) mod adversary;
pub(crate) mod grouped;
mod optima;
pub(crate) mod oracle;

pub(crate) use optima::optima;

/// The patterns whose trees are constructed without a search.
pub(crate) fn tree_patterns() -> Vec<Pattern> {
    let mut all = Pattern::oblivious();
    all.extend([
        Pattern::Mst,
        Pattern::MstBinary,
        Pattern::Cluster,
        Pattern::Bad,
        Pattern::BadBinary,
        Pattern::Smelt,
    ]);
    all
}

/// Smelt's latency, straight from its recursive definition (§3.1), `receive` included: a member has
/// the value when its parent had it, plus the sends to all siblings up to itself, plus its receive.
pub(crate) fn naive_broadcast(costs: &CostModel, tree: &Tree) -> f64 {
    fn lat(costs: &CostModel, tree: &Tree, v: usize) -> f64 {
        let Some(p) = tree.parent(v) else { return 0.0 };
        let k = tree.children(p).iter().position(|&c| c == v).unwrap();
        let sends: f64 = tree.children(p)[..=k]
            .iter()
            .map(|&c| costs.send(p, c))
            .sum();
        lat(costs, tree, p) + sends + costs.receive(p, v)
    }
    (0..tree.len())
        .map(|v| lat(costs, tree, v))
        .fold(0.0, f64::max)
}

/// The latency of a reduction as the longest way from any leaf to the root: the send of the k-th
/// child is followed by its own receive and those of all later children.
pub(crate) fn naive_reduce(costs: &CostModel, tree: &Tree) -> f64 {
    fn after(costs: &CostModel, tree: &Tree, v: usize) -> f64 {
        let Some(p) = tree.parent(v) else { return 0.0 };
        let k = tree.children(p).iter().position(|&c| c == v).unwrap();
        let receives: f64 = tree.children(p)[k..]
            .iter()
            .map(|&c| costs.receive(c, p))
            .sum();
        costs.send(v, p) + receives + after(costs, tree, p)
    }
    (0..tree.len())
        .map(|v| after(costs, tree, v))
        .fold(0.0, f64::max)
}

/// All trees over n members with root 0 and ordered child lists, as child lists.
pub(crate) fn all_ordered_trees(n: usize) -> Vec<Vec<Vec<usize>>> {
    // The first child of v takes some of the rest below it; what is left goes to v's later children.
    fn grow(v: usize, rest: &[usize], n: usize) -> Vec<Vec<Vec<usize>>> {
        if rest.is_empty() {
            return vec![vec![vec![]; n]];
        }
        let mut all = Vec::new();
        for (at, &first) in rest.iter().enumerate() {
            let others: Vec<usize> = rest
                .iter()
                .enumerate()
                .filter(|&(i, _)| i != at)
                .map(|(_, &x)| x)
                .collect();
            for mask in 0..1_u32 << others.len() {
                let pick = |bit| {
                    let chosen = others
                        .iter()
                        .enumerate()
                        .filter(move |(i, _)| mask >> i & 1 == bit);
                    chosen.map(|(_, &x)| x).collect::<Vec<_>>()
                };
                for below in grow(first, &pick(1), n) {
                    for later in grow(v, &pick(0), n) {
                        let mut lists = vec![vec![]; n];
                        for (r, list) in lists.iter_mut().enumerate() {
                            list.extend_from_slice(&below[r]);
                            list.extend_from_slice(&later[r]);
                        }
                        lists[v].insert(0, first);
                        all.push(lists);
                    }
                }
            }
        }
        all
    }
    grow(0, &(1..n).collect::<Vec<_>>(), n)
}

/// The latency of the best tree from a root, see [`optima`].
pub(crate) fn optimum(costs: &CostModel, root: usize) -> f64 {
    optima(costs)[root]
}

/// Cost models of 1 to `n_max` members, friendly and not: NUMA-like, ties, zeros, outliers,
/// asymmetry of 1000 to 1, sends and receives out of proportion; NUMA nodes of any size.
pub(crate) fn any_costs(n_max: usize) -> impl Strategy<Value = CostModel> {
    let shape = (1..=n_max, 0..8_usize, 1..=n_max as u32, any::<u64>());
    shape.prop_map(|(n, kind, per_node, seed)| costs_of_kind(n, kind, per_node, seed))
}

/// One of eight kinds of cost models, by seed.
pub(crate) fn costs_of_kind(n: usize, kind: usize, per_node: u32, seed: u64) -> CostModel {
    let mut random = Rng::with_seed(seed);
    let numa: Vec<u32> = (0..n as u32).map(|i| i / per_node).collect();
    let near = |i: usize, j: usize| numa[i] == numa[j];
    let mut entry = |i: usize, j: usize, receive: bool| {
        let r = random.f64();
        match kind {
            // NUMA classes with noise; receives three times as dear as sends.
            0 => {
                (if near(i, j) { 60.0 } else { 200.0 })
                    * (0.95 + 0.1 * r)
                    * if receive { 3.0 } else { 1.0 }
            }
            // NUMA classes without noise: ties everywhere.
            1 => (if near(i, j) { 1.0 } else { 4.0 }) * if receive { 3.0 } else { 1.0 },
            // Small whole numbers, zeros among them.
            2 => (r * 4.0).floor(),
            // Random costs.
            3 => r * 1000.0,
            // Random costs with a few huge outliers.
            4 => {
                if r < 0.1 {
                    1e12 * r
                } else {
                    10.0 + r
                }
            }
            // One direction costs 1000 times as much as the other.
            5 => (1.0 + r) * if i < j { 1000.0 } else { 1.0 },
            // Sends are almost free.
            6 => (1.0 + r) * if receive { 500.0 } else { 0.001 },
            // Receives are free.
            _ => {
                if receive {
                    0.0
                } else {
                    1.0 + r
                }
            }
        }
    };
    let mut rows = |receive| -> Vec<Vec<f64>> {
        (0..n)
            .map(|i| (0..n).map(|j| entry(i, j, receive)).collect())
            .collect()
    };
    let (send, receive) = (rows(false), rows(true));
    CostModel::new(Unit::Cycles, send, receive, numa.clone()).unwrap()
}

/// The machines of the public database, or none if the checkout does not have them beside it.
pub(crate) fn public_machines() -> Vec<MachineFile> {
    let Some(folder) = machine_database() else {
        return Vec::new();
    };
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths
        .filter(|p| {
            p.extension().is_some_and(|e| e == "json") && !p.ends_with("measured-trees.json")
        })
        .collect();
    paths.sort();
    assert_eq!(paths.len(), 7, "{paths:?}");
    let read = |path: &std::path::PathBuf| {
        MachineFile::from_json(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    paths.iter().map(read).collect()
}

/// Whether two numbers are equal but for rounding.
pub(crate) fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-6)
}

/// A random team by seed: from 2 to all of the n positions, in random order.
pub(crate) fn random_team(n: usize, seed: u64) -> Vec<usize> {
    let mut random = Rng::with_seed(seed);
    let mut team: Vec<usize> = (0..n).collect();
    random.shuffle(&mut team);
    team.truncate(random.usize(2..=n));
    team
}
