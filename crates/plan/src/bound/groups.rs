//! Partitions of a team into groups of near members.

use corecast_model::CostModel;

/// A partition, with the least costs inside of its groups and between them.
pub(super) struct Partition {
    /// The group of each member.
    pub(super) group: Vec<usize>,
    /// Members of each group.
    pub(super) size: Vec<usize>,
    /// Least send and least receive inside; infinite when all groups are single members.
    pub(super) inside: Price,
    /// Least send and least receive between groups.
    pub(super) across: Price,
}

/// The least send and the least receive of a set of ordered pairs. They may be of different pairs.
#[derive(Clone, Copy)]
pub(super) struct Price {
    pub(super) send: f64,
    pub(super) receive: f64,
}

/// Most partitions by distance that are looked at, besides that by NUMA node.
const CUTS_MAX: usize = 3;

/// The partition by NUMA node, and those that the costs themselves suggest: for the widest steps in
/// the lengths of a minimum spanning tree, the parts that are left when longer edges are cut.
///
/// Partitions with one group are left out: nothing distinguishes near from far there.
///
/// # Cost
///
/// O(n²).
pub(super) fn partitions(costs: &CostModel) -> Vec<Partition> {
    let mut found = vec![by_numa(costs)];
    let edges = spanning_edges(costs);
    let mut steps: Vec<usize> = (1..edges.len())
        .filter(|&k| edges[k].0 > edges[k - 1].0)
        .collect();
    let ratio = |k: usize| edges[k].0 / edges[k - 1].0.max(f64::MIN_POSITIVE);
    steps.sort_by(|&a, &b| ratio(b).total_cmp(&ratio(a)).then(a.cmp(&b)));
    for &step in steps.iter().take(CUTS_MAX) {
        found.push(joined(costs.n(), &edges[..step]));
    }
    found.dedup();
    found.retain(|group| group.iter().any(|&g| g != group[0]));
    found
        .into_iter()
        .map(|group| priced(costs, group))
        .collect()
}

fn by_numa(costs: &CostModel) -> Vec<usize> {
    let first = |node: &u32| costs.numa_nodes().iter().position(|n| n == node);
    let names: Vec<usize> = costs.numa_nodes().iter().filter_map(first).collect();
    dense(&names)
}

/// The edges of a minimum spanning tree by length, the length of a pair being its cheaper direction.
fn spanning_edges(costs: &CostModel) -> Vec<(f64, usize, usize)> {
    let n = costs.n();
    let lengths = lengths(costs);
    let mut nearest: Vec<(f64, usize)> = vec![(f64::INFINITY, 0); n];
    let mut open: Vec<usize> = (1..n).collect();
    let mut edges = Vec::with_capacity(n.saturating_sub(1));
    let mut v = 0;
    while !open.is_empty() {
        let row = &lengths[v * n..][..n];
        for &u in &open {
            let length = row[u];
            if length < nearest[u].0 {
                nearest[u] = (length, v);
            }
        }
        let mut best = 0;
        for at in 1..open.len() {
            if nearest[open[at]].0 < nearest[open[best]].0 {
                best = at;
            }
        }
        v = open.swap_remove(best);
        edges.push((nearest[v].0, nearest[v].1, v));
    }
    edges.sort_by(|a, b| a.0.total_cmp(&b.0));
    edges
}

/// For each pair the cheaper of its two directions, row by row.
///
/// Filled by tiles: in a large matrix a walk down a column is all cache misses.
fn lengths(costs: &CostModel) -> Vec<f64> {
    const TILE: usize = 16;
    let n = costs.n();
    let one_way = |i, j| costs.send(i, j) + costs.receive(i, j);
    let mut lengths = vec![0.0; n * n];
    for top in (0..n).step_by(TILE) {
        for left in (top..n).step_by(TILE) {
            for i in top..n.min(top + TILE) {
                for j in left.max(i)..n.min(left + TILE) {
                    let length = one_way(i, j).min(one_way(j, i));
                    lengths[i * n + j] = length;
                    lengths[j * n + i] = length;
                }
            }
        }
    }
    lengths
}

/// The groups that these edges join.
fn joined(n: usize, edges: &[(f64, usize, usize)]) -> Vec<usize> {
    let mut name: Vec<usize> = (0..n).collect();
    for &(_, a, b) in edges {
        let (a, b) = (name[a], name[b]);
        name.iter_mut().filter(|g| **g == b).for_each(|g| *g = a);
    }
    dense(&name)
}

/// Group names renumbered in order of first appearance.
fn dense(names: &[usize]) -> Vec<usize> {
    let mut number = vec![usize::MAX; names.len()];
    let mut next = 0;
    names
        .iter()
        .map(|&name| {
            if number[name] == usize::MAX {
                number[name] = next;
                next += 1;
            }
            number[name]
        })
        .collect()
}

fn priced(costs: &CostModel, group: Vec<usize>) -> Partition {
    let free = Price {
        send: f64::INFINITY,
        receive: f64::INFINITY,
    };
    let (mut inside, mut across) = (free, free);
    for i in 0..costs.n() {
        let (send, receive) = (costs.send_matrix().row(i), costs.receive_matrix().row(i));
        // Without branches, so that the compiler can take several entries at a time.
        let mut take = |range: std::ops::Range<usize>| {
            for ((&send, &receive), &other) in send[range.clone()]
                .iter()
                .zip(&receive[range.clone()])
                .zip(&group[range])
            {
                let near = other == group[i];
                let least = |least: f64, cost: f64, wanted: bool| {
                    let cost = if wanted { cost } else { f64::INFINITY };
                    if cost < least { cost } else { least }
                };
                inside.send = least(inside.send, send, near);
                inside.receive = least(inside.receive, receive, near);
                across.send = least(across.send, send, !near);
                across.receive = least(across.receive, receive, !near);
            }
        };
        take(0..i);
        take(i + 1..costs.n());
    }
    let mut size = vec![0; group.iter().max().map_or(0, |g| g + 1)];
    group.iter().for_each(|&g| size[g] += 1);
    Partition {
        group,
        size,
        inside,
        across,
    }
}
