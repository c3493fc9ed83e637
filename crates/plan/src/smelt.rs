//! Smelt's adaptive tree (Kaestle et al., OSDI 2016, §3.3): pattern `smelt`.
//!
//! It is an event-driven construction ([`base`], Algorithm 1) and two optimisations of its result
//! ([`reorder`], [`shuffle`], §3.3.2). The printed algorithm is read as follows:
//!
//! - the candidates of an idle core are all cores *except* the active ones and those of other
//!   active NUMA nodes (`C_all ∩ …` stands for the set difference), and the loop runs while
//!   inactive cores are left;
//! - `A_cores ∪ r` adds `C_next`; eligible are the members of the team on that NUMA node;
//! - cores and NUMA nodes become active when the message is *sent*, so that nobody sends to them
//!   again while it is under way;
//! - the most expensive candidate is found by send + receive, the cheapest core of its node by send
//!   alone;
//! - a core whose candidates are used up stays silent: candidates only get fewer.
//!
//! Equal times and costs are decided by the lower rank.

mod edges;
mod reorder;
mod shuffle;

use std::ops::ControlFlow;

use corecast_model::CostModel;

pub use reorder::reorder;
pub use shuffle::{Helper, shuffle};

use crate::idle::Idle;
use crate::pace::{self, Pace};
use crate::tree::Tree;

/// Returns the root that Smelt takes when the user gives none: the one with the least mean send
/// cost to all others, ties by the lower rank (§3.3.1).
///
/// # Examples
///
/// ```
/// let machine = corecast_model::builtin("sandybridge-2x8").unwrap();
/// assert_eq!(corecast_plan::smelt::root(machine.costs()), 0);
/// ```
#[must_use]
pub fn root(costs: &CostModel) -> usize {
    pace::unwatched(|pace| root_within(costs, pace))
}

/// Returns [`root`], unless a watcher ends the search.
pub(crate) fn root_within(costs: &CostModel, pace: &mut Pace<'_>) -> ControlFlow<(), usize> {
    let mut least = (f64::INFINITY, 0);
    for i in 0..costs.n() {
        pace.spend(costs.n() as u64)?;
        let mean = costs.send_mean(i);
        if mean.total_cmp(&least.0).is_lt() {
            least = (mean, i);
        }
    }
    ControlFlow::Continue(least.1)
}

/// Returns Smelt's tree: [`base`], then [`reorder`], and [`shuffle`] with
/// [`Helper::EarliestFinish`].
///
/// # Panics
///
/// When the root is outside of the team; [`base`] panics then, too.
///
/// # Cost
///
/// O(n²) for the base tree and for each of at most 2n shuffles O(n log n); 15 to 50 ms at 1,024
/// members (2.5 GHz Xeon, November 2026, `cargo run --release --example large`).
#[must_use]
pub fn tree(costs: &CostModel, root: usize) -> Tree {
    pace::unwatched(|pace| tree_within(costs, root, pace))
}

/// Returns [`tree`], unless a watcher ends the search.
pub(crate) fn tree_within(
    costs: &CostModel,
    root: usize,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Tree> {
    let ordered = reorder(costs, &base_within(costs, root, pace)?);
    shuffle::shuffle_within(costs, &ordered, Helper::EarliestFinish, pace)
}

/// Algorithm 1: whenever a core is idle, it sends to the cheapest core of the most expensive
/// inactive NUMA node, and to the most expensive inactive core of its own node when no such node is
/// left or its own node is farther.
///
/// No NUMA node gets more than one message from outside.
///
/// # Cost
///
/// O(n²): each member looks at all others once for each message it sends and once more.
#[must_use]
pub fn base(costs: &CostModel, root: usize) -> Tree {
    pace::unwatched(|pace| base_within(costs, root, pace))
}

/// Returns [`base`], unless a watcher ends the search.
pub(crate) fn base_within(
    costs: &CostModel,
    root: usize,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Tree> {
    let n = costs.n();
    assert!(root < n, "root {root} is outside of a team of {n}");
    let (node_of, nodes) = dense_nodes(costs.numa_nodes());

    let mut children = vec![Vec::new(); n];
    let mut core_active = vec![false; n];
    let mut node_active = vec![false; nodes];
    core_active[root] = true;
    node_active[node_of[root]] = true;
    let mut inactive = n - 1;
    let mut idle = Idle::only(root);

    while inactive > 0 {
        let Some((time, i)) = idle.take() else {
            break;
        };
        pace.spend(4 * n as u64)?;
        let candidate =
            |x: usize| !core_active[x] && (node_of[x] == node_of[i] || !node_active[node_of[x]]);
        let total = |x: usize| costs.send(i, x) + costs.receive(i, x);
        let dearest = (0..n).filter(|&x| candidate(x)).reduce(|a, b| {
            if total(b).total_cmp(&total(a)).is_gt() {
                b
            } else {
                a
            }
        });
        let Some(mut next) = dearest else { continue };
        if node_of[next] != node_of[i] {
            let node = node_of[next];
            next = (0..n)
                .filter(|&x| node_of[x] == node)
                .reduce(|a, b| {
                    if costs.send(i, b) < costs.send(i, a) {
                        b
                    } else {
                        a
                    }
                })
                .unwrap_or(next);
            node_active[node] = true;
        }
        core_active[next] = true;
        inactive -= 1;
        children[i].push(next);
        let sent = time + costs.send(i, next);
        idle.add(sent, i);
        idle.add(sent + costs.receive(i, next), next);
    }
    ControlFlow::Continue(Tree::by_construction(root, children))
}

/// NUMA nodes renumbered from 0 without holes, and how many there are.
pub(crate) fn dense_nodes(numa: &[u32]) -> (Vec<usize>, usize) {
    let mut names: Vec<u32> = numa.to_vec();
    names.sort_unstable();
    names.dedup();
    let dense = numa
        .iter()
        .map(|node| names.partition_point(|name| name < node))
        .collect();
    (dense, names.len())
}
