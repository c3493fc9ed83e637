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

use std::ops::ControlFlow;

use corecast_model::CostModel;

use crate::bound::groups::{RefinementChain, chains};
use crate::bound::levels::{self, Counted};
use crate::cost::latency;
use crate::operation::Operation;
use crate::order::best_order;
use crate::pace::{self, Pace};
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
    pace::unwatched(|pace| ControlFlow::Continue(tree_within(costs, root, pace)))
}

/// Returns [`tree`]; where a watcher ends the search, the best so far.
pub(crate) fn tree_within(
    costs: &CostModel,
    root: Option<usize>,
    pace: &mut Pace<'_>,
) -> Option<Tree> {
    check(costs, root);
    let mut best: Option<ReplayedTree> = None;
    // The best tree so far is the result in either case.
    let _ = each_quick(costs, root, &mut best, pace);
    best.map(|found| found.tree)
}

fn each_quick(
    costs: &CostModel,
    root: Option<usize>,
    best: &mut Option<ReplayedTree>,
    pace: &mut Pace<'_>,
) -> ControlFlow<()> {
    for chain in chains(costs, pace)? {
        let counted = levels::count(costs, chain, root, QUICK_WORK, pace)?;
        let Some(counted) = counted.filter(|counted| counted.whole) else {
            continue;
        };
        let start = match root {
            Some(root) => root,
            None => roomy(costs, &counted.chain, pace)?,
        };
        let found = replayed(costs, &counted, counted.time, start, Taste::ALL[0], pace)?;
        if best.as_ref().is_none_or(|b| found.latency < b.latency) {
            *best = Some(found);
        }
    }
    ControlFlow::Continue(())
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
    pace::unwatched(|pace| ControlFlow::Continue(certified_within(costs, root, work, pace)))
}

/// Returns [`certified`]; where a watcher ends the search, the best tree and the best bound so far.
pub(crate) fn certified_within(
    costs: &CostModel,
    root: Option<usize>,
    work: u64,
    pace: &mut Pace<'_>,
) -> Option<Certified> {
    check(costs, root);
    let mut best: Option<ReplayedTree> = None;
    let mut lower_bound = 0.0_f64;
    // Tree and bound so far are the result in either case.
    let _ = each_certified(costs, root, work, &mut best, &mut lower_bound, pace);
    best.map(|found| Certified {
        tree: found.tree,
        latency: found.latency,
        lower_bound: lower_bound.min(found.latency),
    })
}

fn each_certified(
    costs: &CostModel,
    root: Option<usize>,
    work: u64,
    best: &mut Option<ReplayedTree>,
    lower_bound: &mut f64,
    pace: &mut Pace<'_>,
) -> ControlFlow<()> {
    let all = chains(costs, pace)?;
    let share = work / all.len().max(1) as u64;
    for chain in all {
        let Some(mut counted) = levels::count(costs, chain, root, share, pace)? else {
            continue;
        };
        *lower_bound = lower_bound.max(counted.bound);
        if counted.whole {
            let root = match root {
                Some(root) => root,
                None => roomy(costs, &counted.chain, pace)?,
            };
            best_replay(costs, &mut counted, root, best, pace)?;
        }
    }
    ControlFlow::Continue(())
}

/// The tree of one replay.
struct ReplayedTree {
    tree: Tree,
    latency: f64,
    /// The number of members that found no place in time.
    late: usize,
}

/// Replays the count with more and more time, until everybody finds a place in time. Puts the
/// fastest tree into `best` where it is faster than the one there.
fn best_replay(
    costs: &CostModel,
    counted: &mut Counted,
    root: usize,
    best: &mut Option<ReplayedTree>,
    pace: &mut Pace<'_>,
) -> ControlFlow<()> {
    let optimal = counted.bound * (1.0 + 1e-12);
    let mut least = f64::INFINITY;
    for later in 0..=LATER_MAX {
        let time = counted.time + later;
        let mut placed = false;
        for taste in Taste::ALL {
            if least <= optimal {
                return ControlFlow::Continue(());
            }
            let found = replayed(costs, counted, time, root, taste, pace)?;
            placed |= found.late == 0;
            least = least.min(found.latency);
            if best.as_ref().is_none_or(|b| found.latency < b.latency) {
                *best = Some(found);
            }
        }
        if placed {
            break;
        }
        counted.table.extend(pace)?;
    }
    ControlFlow::Continue(())
}

fn replayed(
    costs: &CostModel,
    counted: &Counted,
    time: usize,
    root: usize,
    taste: Taste,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), ReplayedTree> {
    let Counted { chain, table, .. } = counted;
    let (tree, late) = replay::tree(costs, chain, table, time, root, taste, pace)?;
    let tree = best_order(costs, &tree, Operation::Broadcast);
    let latency = latency(costs, &tree, Operation::Broadcast);
    ControlFlow::Continue(ReplayedTree {
        tree,
        latency,
        late,
    })
}

/// Returns the member with most room around it: outermost groups first, then the least mean send cost.
fn roomy(
    costs: &CostModel,
    chain: &RefinementChain,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), usize> {
    let mut means = Vec::with_capacity(costs.n());
    for v in 0..costs.n() {
        pace.spend(costs.n() as u64)?;
        means.push(costs.send_mean(v));
    }
    let sizes: Vec<Vec<usize>> = chain.group.iter().map(|group| sizes(group)).collect();
    let around = |v: usize| {
        let room = chain.group.iter().zip(&sizes);
        room.rev().map(move |(group, size)| size[group[v]])
    };
    let better = |a: usize, b: usize| {
        let sends = || means[a].total_cmp(&means[b]);
        around(b).cmp(around(a)).then_with(sends)
    };
    ControlFlow::Continue((0..costs.n()).min_by(|&a, &b| better(a, b)).unwrap_or(0))
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
