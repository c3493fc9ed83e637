//! The search for two trees with one root: the fan-in and the fan-out of a barrier.

use std::cell::Cell;
use std::cmp::Ordering::Equal;
use std::ops::ControlFlow;
use std::rc::Rc;

use corecast_model::CostModel;

use super::anneal::TreeAnnealer;
use super::construct::{Nodes, construct_within, quick};
use super::pairs::PairCosts;
use super::{Effort, SearchProgress, SearchWatch};
use crate::bound;
use crate::cost;
use crate::first;
use crate::operation::Operation;
use crate::pace::Pace;
use crate::smelt;
use crate::tree::Tree;

/// The result of a search for a barrier.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoTrees {
    /// The fan-in, as a reduction's tree: lists in the order in which children are taken.
    pub inward: Tree,
    /// The fan-out, as a broadcast's tree with the same root.
    pub outward: Tree,
    /// The sum of both latencies.
    pub latency: f64,
}

/// Most roots that are looked at where the root is free.
const WIDE: usize = 64;
/// Most members of all roots together that are looked at: a root takes O(n²).
const WIDE_COST: usize = WIDE << 16;
/// Most roots that are searched in depth.
const DEEP: usize = 12;
/// Moves of the first round of each root.
const FIRST: u64 = 4096;

/// The searches for one root.
struct RootSearches<'a> {
    inward: TreeAnnealer<'a>,
    outward: TreeAnnealer<'a>,
}

impl RootSearches<'_> {
    fn latency(&self) -> f64 {
        self.inward.latency() + self.outward.latency()
    }

    fn is_done(&self) -> bool {
        self.inward.is_done() && self.outward.is_done()
    }
}

/// Returns the best pair of trees with one root for a barrier: the sum of the latencies of
/// reduction and broadcast is to be least.
///
/// `lower_bound` holds for both phases together; the search ends when it is reached. The watcher
/// sees the latency of the best pair so far; where it ends the search at once, the result is a pair
/// that needed no search.
///
/// # Panics
///
/// When the root is outside of the team.
#[must_use]
pub fn improve_barrier(
    costs: &CostModel,
    root: Option<usize>,
    lower_bound: f64,
    effort: Effort,
    watch: SearchWatch<'_>,
) -> TwoTrees {
    let first = |way| first::tree(costs, way, root);
    let trees = (first(Operation::Reduce), first(Operation::Broadcast));
    let of = |tree: &Tree, way| cost::latency(costs, tree, way);
    let known = TwoTrees {
        latency: of(&trees.0, Operation::Reduce) + of(&trees.1, Operation::Broadcast),
        inward: trees.0,
        outward: trees.1,
    };
    let prepared = {
        let progress = at_start(known.latency);
        let mut ask = || watch(&progress);
        let mut pace = Pace::new(&mut ask);
        let mirrored = bound::mirrored(costs, &mut pace);
        let first = smelt::root_within(costs, &mut pace);
        mirrored.continue_value().zip(first.continue_value())
    };
    let found = prepared.and_then(|(mirrored, first)| {
        let costs = [&mirrored, costs];
        let latency = known.latency;
        improve_both(costs, root, first, latency, lower_bound, effort, watch)
    });
    match found {
        Some(found) if found.latency <= known.latency => found,
        _ => known,
    }
}

/// The progress before the first move.
fn at_start(latency: f64) -> SearchProgress {
    SearchProgress {
        latency,
        moves: 0,
        rounds: 0,
    }
}

/// Returns what [`improve_barrier`] does for costs of both directions, `None` where the watcher ends
/// the search before there is a tree. Without a root `first` is looked at before others; `known` is
/// the latency of the best pair so far.
pub(crate) fn improve_both(
    [mirrored, costs]: [&CostModel; 2],
    root: Option<usize>,
    first: usize,
    known: f64,
    lower_bound: f64,
    effort: Effort,
    watch: SearchWatch<'_>,
) -> Option<TwoTrees> {
    let numa = costs.numa_nodes();
    let best = Cell::new(known);
    let mut ask = || watch(&at_start(best.get()));
    let mut pace = Pace::new(&mut ask);
    let starts = match root {
        Some(root) => {
            let inward = construct_within(mirrored, Some(root), &mut pace)?;
            vec![[inward, construct_within(costs, Some(root), &mut pace)?]]
        }
        None => ranked(costs, mirrored, first, &best, &mut pace),
    };
    let [inward, outward] = starts.first()?;
    let mut pairs = |costs, tree: &Tree| {
        let latency = cost::latency(costs, tree, Operation::Broadcast);
        Rc::new(PairCosts::of(costs, latency, &mut pace))
    };
    let (in_pairs, out_pairs) = (pairs(mirrored, inward), pairs(costs, outward));
    let search = |[inward, outward]: &[Tree; 2]| RootSearches {
        inward: TreeAnnealer::new(&in_pairs, numa, inward, false, effort.seed),
        outward: TreeAnnealer::new(&out_pairs, numa, outward, false, effort.seed),
    };
    let mut searches: Vec<RootSearches<'_>> = starts.iter().map(search).collect();
    if !pace.has_ended() {
        deepen(&mut searches, lower_bound, effort.moves, watch);
    }
    let latency = |pair: &RootSearches<'_>| pair.latency();
    let best = searches
        .into_iter()
        .reduce(|a, b| if latency(&b) < latency(&a) { b } else { a });
    best.map(|mut best| TwoTrees {
        latency: best.latency(),
        inward: best.inward.tree().reversed(),
        outward: best.outward.tree(),
    })
}

/// Returns quickly made trees for the most promising roots, best first.
///
/// Smelt's root, which is `first`, is looked at first, and then those with the cheapest messages in
/// both directions. When a watcher ends the search, the roots looked at so far are the result.
fn ranked(
    costs: &CostModel,
    mirrored: &CostModel,
    first: usize,
    best: &Cell<f64>,
    pace: &mut Pace<'_>,
) -> Vec<[Tree; 2]> {
    let mut found: Vec<(f64, [Tree; 2])> = Vec::new();
    // The roots looked at so far are the result in either case.
    let _ = each_root(costs, mirrored, first, best, &mut found, pace);
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.truncate(DEEP);
    found.into_iter().map(|(_, trees)| trees).collect()
}

fn each_root(
    costs: &CostModel,
    mirrored: &CostModel,
    first: usize,
    best: &Cell<f64>,
    found: &mut Vec<(f64, [Tree; 2])>,
    pace: &mut Pace<'_>,
) -> ControlFlow<()> {
    let n = costs.n();
    let mut roots: Vec<(f64, usize)> = Vec::with_capacity(n);
    for r in 0..n {
        pace.spend(2 * n as u64)?;
        // Row by row: in a large matrix a walk down a column is all cache misses.
        let both = costs.send_matrix().row(r).iter();
        let both = both.zip(mirrored.send_matrix().row(r));
        roots.push((both.map(|(send, receive)| send + receive).sum(), r));
    }
    roots.sort_by(|a, b| {
        (a.1 != first, a.0)
            .partial_cmp(&(b.1 != first, b.0))
            .unwrap_or(Equal)
    });
    let nodes = Nodes::of(costs, pace)?;
    let mirrored_nodes = Nodes::of(mirrored, pace)?;
    let wide = WIDE.min(WIDE_COST / (n * n)).max(2);
    for &(_, root) in roots.iter().take(wide) {
        let (inward, before) = quick(mirrored, &mirrored_nodes, root, pace)?;
        let (outward, after) = quick(costs, &nodes, root, pace)?;
        best.set(best.get().min(before + after));
        found.push((before + after, [inward, outward]));
        pace.look()?;
    }
    ControlFlow::Continue(())
}

/// Searches in rounds of increasing length, after each of which the worse half of the roots is
/// dropped.
fn deepen(
    searches: &mut Vec<RootSearches<'_>>,
    lower_bound: f64,
    moves: u64,
    watch: SearchWatch<'_>,
) {
    let mut spent = 0;
    let mut turn = FIRST;
    loop {
        for at in 0..searches.len() {
            for inward in [true, false] {
                let others = searches
                    .iter()
                    .map(RootSearches::latency)
                    .fold(f64::INFINITY, f64::min);
                if others <= lower_bound || spent >= moves {
                    return;
                }
                let other = match inward {
                    true => searches[at].outward.latency(),
                    false => searches[at].inward.latency(),
                };
                let search = match inward {
                    true => &mut searches[at].inward,
                    false => &mut searches[at].outward,
                };
                let length = turn.min(moves - spent);
                let flow = search.run(length, &mut |progress: &SearchProgress| {
                    watch(&SearchProgress {
                        latency: others.min(progress.latency + other),
                        moves: spent + progress.moves,
                        rounds: progress.rounds,
                    })
                });
                spent += length;
                if flow == ControlFlow::Break(()) {
                    return;
                }
            }
        }
        if searches.iter().all(RootSearches::is_done) {
            return;
        }
        searches.sort_by(|a, b| a.latency().total_cmp(&b.latency()));
        let keep = searches.len().div_ceil(2);
        searches.truncate(keep);
        turn = turn.saturating_mul(2);
    }
}
