//! Finds the best trees for notifications, broadcasts and reductions.

use super::candidates::{bounds, ended, grouped};
use super::levels::{LevelSplit, TreeLevels};
use super::packages::{ChosenTree, in_packages};
use crate::published::{self, Sharing};
use corecast_collectives::barrier::{self, GroupSchedule};
use corecast_collectives::groups::{GroupRoute, Groups};
use corecast_plan::Tree;
use corecast_plan::groups::Grouped;
use corecast_sim::symbolic::{Bounds, CostRules, Graph, Placement, record};
use corecast_wire::broadcast_ring::RING_PAYLOAD_BYTES;

/// The best notification trees for a barrier over groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Notified {
    /// The tree of notifications to rank 0.
    pub fan_in: Grouped,
    /// The tree of notifications from rank 0.
    pub fan_out: Grouped,
    /// The bounds of the barrier over both.
    pub bounds: Bounds,
}

impl Notified {
    /// The graph of the barrier over both.
    #[must_use]
    pub fn graph(&self) -> Graph {
        barrier_graph(&self.fan_in, &self.fan_out)
    }
}

/// One package with these costs, with a rank on each of `n` cores.
fn one_package(placement: &Placement, n: usize) -> Placement {
    Placement::of_packages(*placement.costs(), &vec![0; n])
}

/// T_min of the graph of one level with k children.
fn level<'a>(
    graph: impl Fn(usize) -> Graph + 'a,
    placement: &'a Placement,
    rules: &'a CostRules,
) -> impl Fn(usize) -> f64 + 'a {
    move |k| bounds(&graph(k), &one_package(placement, k + 1), rules).t_min
}

/// A tree of root 0 and one group of k children.
fn flat(k: usize) -> Tree {
    Grouped::flat(k + 1, 0).tree().clone()
}

/// A tree of root 0 with k children, of which the first has a child.
fn above_a_pair(k: usize) -> Tree {
    let mut lists = vec![Vec::new(); k + 2];
    lists[0].push((1..=k).collect());
    lists[1].push(vec![k + 1]);
    grouped(lists).tree().clone()
}

/// The best notification trees of groups, each of which shares a line, for ranks in one package.
///
/// # Panics
///
/// If ranks are in several packages, or are fewer than two.
///
/// # Cost
///
/// Two graphs for each number of children, of as many ranks: n² acts; and that of the barrier.
///
/// # Source
///
/// CLa §3.1 and §3.2.
#[must_use]
pub fn notification(placement: &Placement, rules: &CostRules) -> Notified {
    let n = placement.ranks();
    assert!(n > 1, "somebody notifies somebody");
    in_one_package(placement);
    let inward = |k| published::many_to_one(k, Sharing::SameLine);
    let outward = |k| published::one_to_many(k, Sharing::SameLine);
    // The cost of a notification does not depend on the levels below.
    let inward = level(inward, placement, rules);
    let outward = level(outward, placement, rules);
    let fan_in = TreeLevels::new(n - 1, LevelSplit::Children, &inward, &inward);
    let fan_out = TreeLevels::new(n - 1, LevelSplit::ChildrenAndParent, &outward, &outward);
    let (fan_in, fan_out) = (fan_in.grouped(n), fan_out.grouped(n));
    let bounds = bounds(&barrier_graph(&fan_in, &fan_out), placement, rules);
    Notified {
        fan_in,
        fan_out,
        bounds,
    }
}

/// The graph of the collective barrier over these groups.
pub(super) fn barrier_graph(fan_in: &Grouped, fan_out: &Grouped) -> Graph {
    let mut groups = Groups::new(fan_in.len());
    let ways = GroupSchedule::all(fan_in, fan_out, &mut groups);
    ended(record(fan_in.len(), &groups, |fabric, rank| {
        barrier::groups(fabric, &ways[rank])
    }))
}

/// The best tree for the paper's one-line broadcast ([`published::broadcast`]), from rank 0.
///
/// # Panics
///
/// If there are fewer than two ranks, or ranks in more than two packages.
///
/// # Cost
///
/// That of [`notification`]; in two packages also a graph for each number of children in each of them.
///
/// # Source
///
/// CLa §4.1, Equation 32.
///
/// # Examples
///
/// ```
/// use corecast_sim::symbolic::CostRules;
/// use corecast_validation::{choose, tables};
///
/// // "The best dual-socket trees for Sandy Bridge are almost always flat" (§4.1.1).
/// let best = choose::broadcast(&tables::sandy_bridge(10), &CostRules::default());
/// assert_eq!(best.tree.children(0).len(), 9);
/// ```
#[must_use]
pub fn broadcast(placement: &Placement, rules: &CostRules) -> ChosenTree {
    tree(placement, rules, published::broadcast)
}

/// The best tree for the paper's one-line reduction ([`published::reduction`]), to rank 0.
///
/// # Panics
///
/// See [`broadcast`].
///
/// # Cost
///
/// See [`broadcast`].
///
/// # Source
///
/// CLa §5.1, Equation 34.
#[must_use]
pub fn reduction(placement: &Placement, rules: &CostRules) -> ChosenTree {
    tree(placement, rules, published::reduction)
}

fn tree(
    placement: &Placement,
    rules: &CostRules,
    algorithm: fn(&Tree, Option<&[u32]>) -> Graph,
) -> ChosenTree {
    let n = placement.ranks();
    assert!(n > 1, "somebody else takes part");
    let of = |tree: &Tree| {
        let alone = one_package(placement, tree.len());
        bounds(&algorithm(tree, None), &alone, rules).t_min
    };
    let pair = of(&flat(1));
    let last = |k| of(&flat(k));
    let upper = |k| of(&above_a_pair(k)) - pair;
    let levels = TreeLevels::new(n - 1, LevelSplit::Children, last, upper);
    in_packages(placement, &levels, |tree, packages| {
        bounds(&algorithm(tree, packages), placement, rules)
    })
}

/// A tree of groups that was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenGroups {
    /// The tree of groups, with rank 0 as its root.
    pub plan: Grouped,
    /// The bounds of the algorithm over it.
    pub bounds: Bounds,
}

/// A broadcast over groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InGroups {
    /// The paper's ([`published::broadcast_in_groups`]), in which children notify back.
    Published,
    /// The collective `broadcast::groups`, in which they do not.
    Collective,
}

impl InGroups {
    /// The graph of a broadcast of a line over these groups.
    ///
    /// # Panics
    ///
    /// When the kernel has no memory for stacks.
    #[must_use]
    pub fn graph(self, plan: &Grouped) -> Graph {
        if self == Self::Published {
            return published::broadcast_in_groups(plan);
        }
        let mut groups = Groups::new(plan.len());
        let routes = GroupRoute::fan_out(plan, &mut groups);
        ended(record(plan.len(), &groups, |fabric, rank| {
            let mut line = [rank as u8; RING_PAYLOAD_BYTES];
            corecast_collectives::broadcast::groups(fabric, &routes[rank], &mut line)
        }))
    }
}

/// The best trees of groups for a broadcast, for each number of ranks from 1 to that of `placement`, which are in one
/// package. Below the root's first group the other ranks are split evenly among all ranks that have the data then
/// (§4.1.2).
///
/// # Panics
///
/// If ranks are in several packages.
///
/// # Cost
///
/// A graph for each number of ranks and of children: n³ acts.
///
/// # Examples
///
/// ```
/// use corecast_sim::symbolic::CostRules;
/// use corecast_validation::{choose, tables};
///
/// let placement = tables::xeon_phi(24);
/// let all = choose::broadcasts_in_groups(choose::InGroups::Collective, &placement, &CostRules::default());
/// // Contention makes several groups worth their lines.
/// assert!(all[23].plan.groups(0).len() > 1);
/// ```
#[must_use]
pub fn broadcasts_in_groups(
    algorithm: InGroups,
    placement: &Placement,
    rules: &CostRules,
) -> Vec<ChosenGroups> {
    in_one_package(placement);
    let of = |plan: &Grouped| {
        let alone = one_package(placement, plan.len());
        bounds(&algorithm.graph(plan), &alone, rules)
    };
    let levels = TreeLevels::of_groups(placement.ranks() - 1, |plan| of(plan).t_min);
    let chosen = (1..=placement.ranks()).map(|n| {
        let plan = levels.grouped(n);
        let bounds = of(&plan);
        ChosenGroups { plan, bounds }
    });
    chosen.collect()
}

fn in_one_package(placement: &Placement) {
    let packages = placement.packages();
    assert!(
        packages.iter().all(|&package| package == packages[0]),
        "trees of groups are chosen for one package"
    );
}
