//! Good trees at once: a portfolio of greedy constructions, each in the exact child order.
//!
//! There are two families. **Earliest completion first** (Bhat, Raghavendra, Prasanna): of all
//! pairs of an informed and an uninformed member, the message that arrives first is taken.
//! **Longest remainder first**: whenever a member is idle, it serves the NUMA node that would be
//! finished last, with weight β, or the one that it reaches first. A short descent by the search's
//! own moves ends the construction.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::{Effort, improve};
use crate::cost;
use crate::idle::Idle;
use crate::operation::Operation;
use crate::order::best_order;
use crate::pace::{self, Pace};
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
    pace::unwatched(|pace| match construct_within(costs, root, pace) {
        Some(tree) => ControlFlow::Continue(tree),
        None => ControlFlow::Break(()),
    })
}

/// Returns [`construct`]; where a watcher ends the search, the best so far, if there is any.
pub(crate) fn construct_within(
    costs: &CostModel,
    root: Option<usize>,
    pace: &mut Pace<'_>,
) -> Option<Tree> {
    let n = costs.n();
    if let Some(root) = root {
        assert!(root < n, "root {root} is outside of a team of {n}");
    }
    let mut best = None;
    // The best tree so far is the result in either case.
    let _ = match root {
        Some(root) => Nodes::of(costs, pace)
            .map_continue(|nodes| portfolio(costs, &nodes, root, &mut best, pace)),
        None => any_root(costs, &mut best, pace).map_continue(ControlFlow::Continue),
    };
    best.map(|(tree, _)| descended(costs, tree, root.is_none(), pace))
}

fn any_root(
    costs: &CostModel,
    best: &mut Option<(Tree, f64)>,
    pace: &mut Pace<'_>,
) -> ControlFlow<()> {
    let n = costs.n();
    let nodes = Nodes::of(costs, pace)?;
    let mut ranked: Vec<(f64, usize)> = Vec::with_capacity(n);
    for root in 0..n {
        pace.spend(n as u64)?;
        ranked.push((costs.send_mean(root), root));
    }
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    ranked.truncate(ROOTS);
    for (rating, root) in &mut ranked {
        *rating = quick(costs, &nodes, *root, pace)?.1;
    }
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    ranked.truncate(2);
    for (_, root) in ranked {
        portfolio(costs, &nodes, root, best, pace)?;
    }
    ControlFlow::Continue(())
}

/// Returns the tree after a few improving moves for each member.
fn descended(costs: &CostModel, tree: Tree, free_root: bool, pace: &mut Pace<'_>) -> Tree {
    if pace.has_ended() {
        return tree;
    }
    let effort = Effort {
        seed: 0,
        moves: DESCENT * costs.n() as u64,
    };
    improve(costs, &tree, free_root, 0.0, effort, &mut |_| pace.look())
}

/// Takes the tree if it is better.
fn offer(best: &mut Option<(Tree, f64)>, found: (Tree, f64)) {
    if best.as_ref().is_none_or(|best| found.1 < best.1) {
        *best = Some(found);
    }
}

fn rated(costs: &CostModel, tree: Tree) -> (Tree, f64) {
    let tree = best_order(costs, &tree, Operation::Broadcast);
    let latency = cost::latency(costs, &tree, Operation::Broadcast);
    (tree, latency)
}

fn portfolio(
    costs: &CostModel,
    nodes: &Nodes,
    root: usize,
    best: &mut Option<(Tree, f64)>,
    pace: &mut Pace<'_>,
) -> ControlFlow<()> {
    offer(best, rated(costs, smelt::base_within(costs, root, pace)?));
    for &beta in if costs.n() > LARGE {
        &BETAS[3..=5]
    } else {
        &BETAS[..]
    } {
        let tree = remainder(costs, nodes, root, beta, pace)?;
        offer(best, rated(costs, tree));
    }
    offer(best, rated(costs, earliest(costs, root, pace)?));
    ControlFlow::Continue(())
}

/// Returns one construction in its best order, with its latency.
pub(super) fn quick(
    costs: &CostModel,
    nodes: &Nodes,
    root: usize,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), (Tree, f64)> {
    let tree = remainder(costs, nodes, root, 1.0, pace)?;
    ControlFlow::Continue(rated(costs, tree))
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
    pub(super) fn of(costs: &CostModel, pace: &mut Pace<'_>) -> ControlFlow<(), Self> {
        let (of, nodes) = smelt::dense_nodes(costs.numa_nodes());
        let mut members = vec![Vec::new(); nodes];
        of.iter()
            .enumerate()
            .for_each(|(v, &node)| members[node].push(v));
        let mut growths = Vec::with_capacity(nodes);
        for node in &members {
            growths.push(growth(costs, node, pace)?);
        }
        ControlFlow::Continue(Self {
            of,
            members,
            growth: growths,
        })
    }

    /// Returns the time from when `have` members of the node are informed until `have + more` are.
    fn fill(&self, node: usize, have: usize, more: usize) -> f64 {
        let growth = &self.growth[node];
        growth[have + more - 1] - growth[have - 1]
    }
}

fn growth(costs: &CostModel, members: &[usize], pace: &mut Pace<'_>) -> ControlFlow<(), Vec<f64>> {
    let (mut send, mut receive, mut count) = (0.0, 0.0, 0.0_f64);
    for &i in members {
        pace.spend(4 * members.len() as u64)?;
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
    ControlFlow::Continue(informed)
}

/// Constructs a tree by longest remainder first.
fn remainder(
    costs: &CostModel,
    nodes: &Nodes,
    root: usize,
    beta: f64,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Tree> {
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
        pace.spend(4 * n as u64)?;
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
    ControlFlow::Continue(Tree::by_construction(root, children))
}

/// The message by which an informed member would inform another one first.
struct EarliestMessage {
    arrival: f64,
    to: usize,
    from: usize,
}

impl Ord for EarliestMessage {
    /// The greatest is the earliest, then that from the lowest rank: what is made anew then is the
    /// next one again where members are alike.
    fn cmp(&self, other: &Self) -> Ordering {
        let ranks = || (other.from, other.to).cmp(&(self.from, self.to));
        other.arrival.total_cmp(&self.arrival).then_with(ranks)
    }
}

impl PartialOrd for EarliestMessage {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for EarliestMessage {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for EarliestMessage {}

/// Constructs a tree by earliest completion first.
///
/// Each informed member has one message, its earliest. When another member was faster, the
/// message is looked for again, and only once it is the earliest of all. So most look for few.
///
/// # Cost
///
/// O(n) for each look; O(n²) together where members are alike.
fn earliest(costs: &CostModel, root: usize, pace: &mut Pace<'_>) -> ControlFlow<(), Tree> {
    let n = costs.n();
    let mut children = vec![Vec::new(); n];
    let mut idle = vec![0.0; n];
    // By rank, so that of equally near members the lowest is taken.
    let mut open: Vec<usize> = (0..n).filter(|&c| c != root).collect();
    let mut messages: BinaryHeap<EarliestMessage> = BinaryHeap::new();
    messages.extend(message_of(costs, root, 0.0, &open, pace)?);
    while let Some(EarliestMessage { arrival, to, from }) = messages.pop() {
        if let Ok(at) = open.binary_search(&to) {
            open.remove(at);
            children[from].push(to);
            idle[from] += costs.send(from, to);
            idle[to] = arrival;
            messages.extend(message_of(costs, to, arrival, &open, pace)?);
        }
        messages.extend(message_of(costs, from, idle[from], &open, pace)?);
    }
    ControlFlow::Continue(Tree::by_construction(root, children))
}

/// Returns the earliest message of a member that is idle from a time on, if anybody is left.
fn message_of(
    costs: &CostModel,
    from: usize,
    idle: f64,
    open: &[usize],
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Option<EarliestMessage>> {
    pace.spend(4 * open.len() as u64 + 1)?;
    let mut best: Option<EarliestMessage> = None;
    for &to in open {
        let arrival = idle + costs.send(from, to) + costs.receive(from, to);
        if best.as_ref().is_none_or(|best| arrival < best.arrival) {
            best = Some(EarliestMessage { arrival, to, from });
        }
    }
    ControlFlow::Continue(best)
}
