//! Good trees at once: a portfolio of greedy constructions, each in the exact child order.
//!
//! There are two families. **Earliest completion first** (Bhat, Raghavendra, Prasanna): of all
//! pairs of an informed and an uninformed member, the message that arrives first is taken.
//! **Longest remainder first**: whenever a member is idle, it serves the NUMA node that would be
//! finished last, with weight β, or the one that it reaches first. A short descent by the search's
//! own moves ends the construction.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::{Effort, improve};
use crate::cost;
use crate::idle::Idle;
use crate::operation::Operation;
use crate::order::best_order;
use crate::smelt;
use crate::tree::Tree;

/// Weights β of the remainder, from the nearest first to the longest first.
const BETAS: [f64; 9] = [0.0, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 5.0, 100.0];

/// Teams with more members than this try fewer weights.
const LARGE: usize = 256;

/// Moves of the descent for each member.
const DESCENT: u64 = 20;

/// Roots that are tried where the root is free.
const ROOTS: usize = 8;

/// Constructs a good tree quickly.
///
/// Without a root, the few members whose messages are cheapest are tried as root.
///
/// # Panics
///
/// When the root is outside of the team.
///
/// # Cost
///
/// O(n²) for each of a dozen constructions.
#[must_use]
pub fn construct(costs: &CostModel, root: Option<usize>) -> Tree {
    let n = costs.n();
    if let Some(root) = root {
        assert!(root < n, "root {root} is outside of a team of {n}");
        return descended(costs, portfolio(costs, &Nodes::of(costs), root).0, false);
    }
    let nodes = Nodes::of(costs);
    let mut ranked: Vec<(f64, usize)> = (0..n).map(|r| (costs.send_mean(r), r)).collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    ranked.truncate(ROOTS);
    for (rating, root) in &mut ranked {
        *rating = quick(costs, &nodes, *root).1;
    }
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    ranked.truncate(2);
    let best = ranked
        .iter()
        .map(|&(_, root)| portfolio(costs, &nodes, root));
    let best = best.reduce(better);
    let (tree, _) = best.unwrap_or_else(|| portfolio(costs, &nodes, 0));
    descended(costs, tree, true)
}

/// Returns the tree after a few improving moves for each member.
fn descended(costs: &CostModel, tree: Tree, free_root: bool) -> Tree {
    let effort = Effort {
        seed: 0,
        moves: DESCENT * costs.n() as u64,
    };
    improve(costs, &tree, free_root, 0.0, effort, &mut |_| {
        ControlFlow::Continue(())
    })
}

/// Returns the better of two trees, the first where they tie.
fn better(a: (Tree, f64), b: (Tree, f64)) -> (Tree, f64) {
    if b.1 < a.1 { b } else { a }
}

fn rated(costs: &CostModel, tree: Tree) -> (Tree, f64) {
    let tree = best_order(costs, &tree, Operation::Broadcast);
    let latency = cost::latency(costs, &tree, Operation::Broadcast);
    (tree, latency)
}

fn portfolio(costs: &CostModel, nodes: &Nodes, root: usize) -> (Tree, f64) {
    let mut best = rated(costs, smelt::base(costs, root));
    for &beta in if costs.n() > LARGE {
        &BETAS[3..=5]
    } else {
        &BETAS[..]
    } {
        best = better(best, rated(costs, remainder(costs, nodes, root, beta)));
    }
    better(best, rated(costs, earliest(costs, root)))
}

/// Returns one construction in its best order, with its latency.
pub(super) fn quick(costs: &CostModel, nodes: &Nodes, root: usize) -> (Tree, f64) {
    rated(costs, remainder(costs, nodes, root, 1.0))
}

/// The NUMA nodes of a team, and how fast a message spreads within each.
pub(super) struct Nodes {
    /// For each member the number of its node, numbered without holes.
    of: Vec<usize>,
    members: Vec<Vec<usize>>,
    /// For each node the time at which its k-th member is informed, if the first one is at 0 and
    /// costs are the node's means.
    growth: Vec<Vec<f64>>,
}

impl Nodes {
    pub(super) fn of(costs: &CostModel) -> Self {
        let (of, nodes) = smelt::dense_nodes(costs.numa_nodes());
        let mut members = vec![Vec::new(); nodes];
        of.iter()
            .enumerate()
            .for_each(|(v, &node)| members[node].push(v));
        let growth = members.iter().map(|node| growth(costs, node)).collect();
        Self {
            of,
            members,
            growth,
        }
    }

    /// Returns the time from when `have` members of the node are informed until `have + more` are.
    fn fill(&self, node: usize, have: usize, more: usize) -> f64 {
        let growth = &self.growth[node];
        growth[have + more - 1] - growth[have - 1]
    }
}

fn growth(costs: &CostModel, members: &[usize]) -> Vec<f64> {
    let (mut send, mut receive, mut count) = (0.0, 0.0, 0.0_f64);
    for &i in members {
        for &j in members.iter().filter(|&&j| j != i) {
            send += costs.send(i, j);
            receive += costs.receive(i, j);
            count += 1.0;
        }
    }
    let (send, receive) = (send / count.max(1.0), receive / count.max(1.0));
    let mut informed = vec![0.0];
    let mut idle = Idle::only(0);
    while informed.len() < members.len() {
        let Some((time, rank)) = idle.take() else {
            break;
        };
        let arrival = time + send + receive;
        idle.add(time + send, rank);
        idle.add(arrival, informed.len());
        informed.push(arrival);
    }
    informed.sort_by(f64::total_cmp);
    informed
}

/// Constructs a tree by longest remainder first.
fn remainder(costs: &CostModel, nodes: &Nodes, root: usize, beta: f64) -> Tree {
    let n = costs.n();
    let mut left = nodes.members.clone();
    let mut have = vec![0; left.len()];
    let mut children = vec![Vec::new(); n];
    left[nodes.of[root]].retain(|&c| c != root);
    have[nodes.of[root]] = 1;
    let mut idle = Idle::only(root);
    for _ in 1..n {
        let Some((time, v)) = idle.take() else {
            break;
        };
        let mut choice: Option<(f64, usize, usize)> = None;
        for (node, members) in left.iter().enumerate() {
            let price = |&c: &usize| costs.send(v, c) + costs.receive(v, c);
            let cheapest = (0..members.len()).reduce(|a, b| {
                if price(&members[b]) < price(&members[a]) {
                    b
                } else {
                    a
                }
            });
            let Some(at) = cheapest else { continue };
            let arrival = time + price(&members[at]);
            let finish = match have[node] {
                0 => arrival + nodes.fill(node, 1, members.len() - 1),
                k => time + nodes.fill(node, k, members.len()),
            };
            let rating = beta * finish - arrival;
            if choice.is_none_or(|(best, ..)| rating > best) {
                choice = Some((rating, node, at));
            }
        }
        let Some((_, node, at)) = choice else { break };
        let c = left[node].remove(at);
        have[node] += 1;
        children[v].push(c);
        let sent = time + costs.send(v, c);
        idle.add(sent, v);
        idle.add(sent + costs.receive(v, c), c);
    }
    Tree::by_construction(root, children)
}

/// Constructs a tree by earliest completion first.
fn earliest(costs: &CostModel, root: usize) -> Tree {
    let n = costs.n();
    let mut children = vec![Vec::new(); n];
    let mut idle = vec![f64::INFINITY; n];
    idle[root] = 0.0;
    // For each uninformed member the informed one that reaches it first, and when.
    let mut source: Vec<(f64, usize)> = (0..n)
        .map(|c| (costs.send(root, c) + costs.receive(root, c), root))
        .collect();
    let mut open: Vec<usize> = (0..n).filter(|&c| c != root).collect();
    while let Some(at) = (0..open.len()).reduce(|a, b| {
        if source[open[b]].0 < source[open[a]].0 {
            b
        } else {
            a
        }
    }) {
        let c = open.remove(at);
        let (arrival, v) = source[c];
        children[v].push(c);
        idle[v] += costs.send(v, c);
        idle[c] = arrival;
        let informed: Vec<usize> = (0..n).filter(|&v| idle[v] < f64::INFINITY).collect();
        for &x in &open {
            let at = |v: usize| idle[v] + costs.send(v, x) + costs.receive(v, x);
            if source[x].1 == v {
                let again = informed.iter().map(|&v| (at(v), v));
                source[x] = again.fold((f64::INFINITY, root), |a, b| if b.0 < a.0 { b } else { a });
            } else if at(c) < source[x].0 {
                source[x] = (at(c), c);
            }
        }
    }
    Tree::by_construction(root, children)
}
