//! Partitions of a team into groups of near members.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use crate::pace::Pace;
use crate::smelt::dense_nodes;

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

/// The least send and the least receive of a set of ordered pairs. The two may come from different
/// pairs.
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
pub(super) fn partitions(
    costs: &CostModel,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Vec<Partition>> {
    let mut found = vec![by_numa(costs)];
    let edges = spanning_edges(costs, pace)?;
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
    let mut partitions = Vec::with_capacity(found.len());
    for group in found {
        partitions.push(priced(costs, group, pace)?);
    }
    ControlFlow::Continue(partitions)
}

fn by_numa(costs: &CostModel) -> Vec<usize> {
    dense(&dense_nodes(costs.numa_nodes()).0)
}

/// The edges of a minimum spanning tree by length, the length of a pair being its cheaper direction.
fn spanning_edges(
    costs: &CostModel,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Vec<(f64, usize, usize)>> {
    let n = costs.n();
    let lengths = lengths(costs, pace)?;
    let mut nearest: Vec<(f64, usize)> = vec![(f64::INFINITY, 0); n];
    let mut open: Vec<usize> = (1..n).collect();
    let mut edges = Vec::with_capacity(n.saturating_sub(1));
    let mut v = 0;
    while !open.is_empty() {
        pace.spend(2 * open.len() as u64)?;
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
    ControlFlow::Continue(edges)
}

/// For each pair the cheaper of its two directions, row by row.
///
/// Filled by tiles: in a large matrix a walk down a column is all cache misses.
fn lengths(costs: &CostModel, pace: &mut Pace<'_>) -> ControlFlow<(), Vec<f64>> {
    const TILE: usize = 16;
    let n = costs.n();
    let one_way = |i, j| costs.send(i, j) + costs.receive(i, j);
    let mut lengths = vec![0.0; n * n];
    for top in (0..n).step_by(TILE) {
        for left in (top..n).step_by(TILE) {
            pace.spend((8 * TILE * TILE) as u64)?;
            for i in top..n.min(top + TILE) {
                for j in left.max(i)..n.min(left + TILE) {
                    let length = one_way(i, j).min(one_way(j, i));
                    lengths[i * n + j] = length;
                    lengths[j * n + i] = length;
                }
            }
        }
    }
    ControlFlow::Continue(lengths)
}

/// The groups that these edges join.
///
/// # Cost
///
/// O(n log n): the smaller of two groups takes the name of the larger one.
fn joined(n: usize, edges: &[(f64, usize, usize)]) -> Vec<usize> {
    let mut name: Vec<usize> = (0..n).collect();
    let mut members: Vec<Vec<usize>> = (0..n).map(|v| vec![v]).collect();
    for &(_, a, b) in edges {
        let (mut a, mut b) = (name[a], name[b]);
        if a == b {
            continue;
        }
        if members[a].len() < members[b].len() {
            std::mem::swap(&mut a, &mut b);
        }
        for v in std::mem::take(&mut members[b]) {
            name[v] = a;
            members[a].push(v);
        }
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

fn priced(costs: &CostModel, group: Vec<usize>, pace: &mut Pace<'_>) -> ControlFlow<(), Partition> {
    let free = Price {
        send: f64::INFINITY,
        receive: f64::INFINITY,
    };
    let (mut inside, mut across) = (free, free);
    for i in 0..costs.n() {
        pace.spend(4 * costs.n() as u64)?;
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
    ControlFlow::Continue(Partition {
        group,
        size,
        inside,
        across,
    })
}

/// Nested partitions, each refined by the one before, and the least costs of each level.
#[derive(Clone, Debug)]
pub(crate) struct RefinementChain {
    /// For each partition, innermost first, the group of each member.
    pub(crate) group: Vec<Vec<usize>>,
    /// Members of each partition's largest group.
    pub(crate) largest: Vec<usize>,
    /// For each partition the price inside of its groups but across those of the one before, and
    /// last the price across the outermost groups; infinite where there is no such pair.
    pub(crate) price: Vec<Reach>,
}

/// The least send of a set of ordered pairs, and the least sum of send and receive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    pub(crate) send: f64,
    pub(crate) total: f64,
}

impl RefinementChain {
    /// Members of the group around this one.
    pub(crate) fn size_around(&self, level: usize, member: usize) -> usize {
        let group = &self.group[level];
        group.iter().filter(|&&g| g == group[member]).count()
    }

    fn priced(
        costs: &CostModel,
        mut group: Vec<Vec<usize>>,
        pace: &mut Pace<'_>,
    ) -> ControlFlow<(), Self> {
        group.retain(|g| g.iter().any(|&x| x != g[0]));
        let largest = group.iter().map(|g| largest(g)).collect();
        let free = Reach {
            send: f64::INFINITY,
            total: f64::INFINITY,
        };
        let mut price = vec![free; group.len() + 1];
        for i in 0..costs.n() {
            pace.spend(8 * costs.n() as u64)?;
            let (send, receive) = (costs.send_matrix().row(i), costs.receive_matrix().row(i));
            for j in (0..costs.n()).filter(|&j| j != i) {
                // Partitions are nested: as many as part the two are inside of their level.
                let level: usize = group.iter().map(|g| usize::from(g[i] != g[j])).sum();
                let price = &mut price[level];
                price.send = price.send.min(send[j]);
                price.total = price.total.min(send[j] + receive[j]);
            }
        }
        ControlFlow::Continue(Self {
            group,
            largest,
            price,
        })
    }
}

/// Least ratio of two neighbouring lengths that makes a level.
const STEP_MIN: f64 = 1.05;
/// Most partitions of a refinement chain.
const RUNGS_MAX: usize = 3;

/// The refinement chains that the costs and the NUMA nodes suggest, at most two: the widest steps in the
/// lengths of a minimum spanning tree, and the same with NUMA nodes where these are not among them.
pub(crate) fn chains(
    costs: &CostModel,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Vec<RefinementChain>> {
    let edges = spanning_edges(costs, pace)?;
    let ratio = |k: usize| edges[k].0 / edges[k - 1].0.max(f64::MIN_POSITIVE);
    let mut steps: Vec<usize> = (1..edges.len()).filter(|&k| ratio(k) >= STEP_MIN).collect();
    steps.sort_by(|&a, &b| ratio(b).total_cmp(&ratio(a)).then(a.cmp(&b)));
    steps.truncate(RUNGS_MAX);
    steps.sort_unstable();
    let by_cost: Vec<Vec<usize>> = steps
        .iter()
        .map(|&step| joined(costs.n(), &edges[..step]))
        .collect();
    let numa = by_numa(costs);
    let mut with_numa: Vec<Vec<usize>> = by_cost
        .iter()
        .filter(|g| refines(g, &numa) != refines(&numa, g))
        .cloned()
        .collect();
    let at = with_numa.iter().filter(|g| refines(g, &numa)).count();
    with_numa.insert(at, numa);
    with_numa.retain(|g| largest(g) > 1 && largest(g) < g.len());
    if with_numa.len() > RUNGS_MAX {
        with_numa.remove(if at == 0 { RUNGS_MAX } else { 0 });
    }
    let mut found = vec![by_cost];
    if found[0] != with_numa {
        found.push(with_numa);
    }
    found.retain(|chain| !chain.is_empty());
    let mut chains = Vec::with_capacity(found.len());
    for groups in found {
        chains.push(RefinementChain::priced(costs, groups, pace)?);
    }
    ControlFlow::Continue(chains)
}

/// Whether every group of `fine` lies in one of `coarse`.
fn refines(fine: &[usize], coarse: &[usize]) -> bool {
    let mut inside = vec![None; fine.len()];
    fine.iter()
        .zip(coarse)
        .all(|(&f, &c)| *inside[f].get_or_insert(c) == c)
}

fn largest(group: &[usize]) -> usize {
    let mut size = vec![0; group.len()];
    group.iter().for_each(|&g| size[g] += 1);
    size.into_iter().max().unwrap_or(0)
}
