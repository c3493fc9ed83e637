//! Trees for machines whose costs come in nested levels, by replaying the count of their bound.
//!
//! The bound of [`crate::bound::levels()`] counts how many members can be informed in a given time
//! when only the level of a message matters. Its choices, made again in the order of time with
//! concrete members, are a tree. On machines whose costs are exact classes that tree often is as
//! fast as the bound, which proves both. Where costs vary inside of a level it is a start for
//! [`crate::search::improve`].
//!
//! Everything here is a broadcast. A reduction is one on [`CostModel::mirrored`], and its tree is
//! [`Tree::reversed`] afterwards.

mod places;
mod replay;

use corecast_model::CostModel;

use crate::bound::groups::{RefinementChain, chains};
use crate::bound::levels::{self, Counted};
use crate::cost::latency;
use crate::operation::Operation;
use crate::order::best_order;
use crate::tree::Tree;
use replay::Taste;

/// A tree together with a lower bound.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Certified {
    /// The tree.
    pub tree: Tree,
    /// Its latency as a broadcast, in the model's unit.
    pub latency: f64,
    /// No tree with the same root is faster, or none with any root where no root was asked for.
    pub lower_bound: f64,
}

/// Additions for a first tree: enough for some 70 time steps at 1,024 members.
const QUICK_WORK: u64 = 400_000_000;
/// Time steps beyond the bound that are tried at most, when members find no place in time.
const LATER_MAX: usize = 6;

/// Returns a good tree quickly, by one replay of a count in coarse time steps. `None` where the costs
/// have no levels, or so many members in each that the count would take long.
///
/// Without a root, one in the largest groups is taken; among those, the one with the least mean send
/// cost.
///
/// # Panics
///
/// When the root is outside of the team.
///
/// # Cost
///
/// O(n²) and some hundred million additions: 1, 8 and 40 ms of CPU time at 64, 256 and 1,024
/// members (two-core KVM guest, AMD EPYC at 2.6 GHz, November 2026, `cargo run --release -p
/// corecast-plan --example large`).
///
/// # Examples
///
/// ```
/// use corecast_plan::{Operation, cost, hierarchy, smelt};
///
/// let machine = corecast_model::synthetic(
///     "package:2 numa:4 core:8 send=60,120,200 receive=220,450,750",
/// )
/// .unwrap();
/// let costs = machine.costs();
/// let of = |tree| cost::latency(costs, &tree, Operation::Broadcast);
/// assert!(of(hierarchy::tree(costs, Some(0)).unwrap()) < of(smelt::tree(costs, 0)));
/// ```
#[must_use]
pub fn tree(costs: &CostModel, root: Option<usize>) -> Option<Tree> {
    check(costs, root);
    let each = chains(costs).into_iter().filter_map(|chain| {
        let counted = levels::count(costs, chain, root, QUICK_WORK)?;
        let start = root.unwrap_or_else(|| roomy(costs, &counted.chain));
        counted
            .whole
            .then(|| replayed(costs, &counted, counted.time, start, Taste::ALL[0]))
    });
    each.min_by(|a, b| a.latency.total_cmp(&b.latency))
        .map(|found| found.tree)
}

/// Returns the best tree that replays of one count give, with the bound of [`crate::bound::levels()`].
///
/// At most `work` additions are made for the count, so that the result depends on the arguments alone.
/// `None` where the costs have no levels, or where the work is too little.
///
/// # Panics
///
/// When the root is outside of the team.
///
/// # Cost
///
/// O(n²), `work` additions, and up to 28 replays; together 1, 20 and 190 ms of CPU time at 64, 256
/// and 1,024 members in three levels (measured as for [`tree`]).
///
/// # Examples
///
/// ```
/// use corecast_plan::hierarchy;
///
/// let machine = corecast_model::synthetic(
///     "package:2 numa:4 core:8 send=60,120,200 receive=220,450,750",
/// )
/// .unwrap();
/// let found = hierarchy::certified(machine.costs(), None, 100_000_000).unwrap();
/// assert_eq!((found.latency, found.lower_bound), (1750.0, 1750.0));
/// ```
#[must_use]
pub fn certified(costs: &CostModel, root: Option<usize>, work: u64) -> Option<Certified> {
    check(costs, root);
    let all = chains(costs);
    let share = work / all.len().max(1) as u64;
    let mut best: Option<ReplayedTree> = None;
    let mut lower_bound = 0.0_f64;
    for chain in all {
        let Some(mut counted) = levels::count(costs, chain, root, share) else {
            continue;
        };
        lower_bound = lower_bound.max(counted.bound);
        if counted.whole {
            let found = best_replay(costs, &mut counted, root);
            if best.as_ref().is_none_or(|b| found.latency < b.latency) {
                best = Some(found);
            }
        }
    }
    best.map(|found| Certified {
        tree: found.tree,
        latency: found.latency,
        lower_bound: lower_bound.min(found.latency),
    })
}

/// The tree of one replay.
struct ReplayedTree {
    tree: Tree,
    latency: f64,
    /// The number of members that found no place in time.
    late: usize,
}

/// Replays the count with more and more time, until everybody finds a place in time.
fn best_replay(costs: &CostModel, counted: &mut Counted, root: Option<usize>) -> ReplayedTree {
    let root = root.unwrap_or_else(|| roomy(costs, &counted.chain));
    let optimal = counted.bound * (1.0 + 1e-12);
    let mut best = replayed(costs, counted, counted.time, root, Taste::ALL[0]);
    for later in 0..=LATER_MAX {
        let time = counted.time + later;
        let mut placed = false;
        for taste in Taste::ALL {
            if best.latency <= optimal {
                return best;
            }
            let found = replayed(costs, counted, time, root, taste);
            placed |= found.late == 0;
            if found.latency < best.latency {
                best = found;
            }
        }
        if placed {
            break;
        }
        counted.table.extend();
    }
    best
}

fn replayed(
    costs: &CostModel,
    counted: &Counted,
    time: usize,
    root: usize,
    taste: Taste,
) -> ReplayedTree {
    let Counted { chain, table, .. } = counted;
    let (tree, late) = replay::tree(costs, chain, table, time, root, taste);
    let tree = best_order(costs, &tree, Operation::Broadcast);
    let latency = latency(costs, &tree, Operation::Broadcast);
    ReplayedTree {
        tree,
        latency,
        late,
    }
}

/// Returns the member with most room around it: outermost groups first, then the least mean send cost.
fn roomy(costs: &CostModel, chain: &RefinementChain) -> usize {
    let sizes: Vec<Vec<usize>> = chain.group.iter().map(|group| sizes(group)).collect();
    let around = |v: usize| {
        let room = chain.group.iter().zip(&sizes);
        room.rev().map(move |(group, size)| size[group[v]])
    };
    let better = |a: usize, b: usize| {
        let sends = || costs.send_mean(a).total_cmp(&costs.send_mean(b));
        around(b).cmp(around(a)).then_with(sends)
    };
    (0..costs.n()).min_by(|&a, &b| better(a, b)).unwrap_or(0)
}

fn sizes(group: &[usize]) -> Vec<usize> {
    let mut size = vec![0; group.len()];
    group.iter().for_each(|&g| size[g] += 1);
    size
}

fn check(costs: &CostModel, root: Option<usize>) {
    if let Some(root) = root {
        let n = costs.n();
        assert!(root < n, "root {root} is outside of a team of {n}");
    }
}
