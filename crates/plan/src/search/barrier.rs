//! The search for two trees with one root: the fan-in and the fan-out of a barrier.

use std::cmp::Ordering::Equal;
use std::ops::ControlFlow;
use std::rc::Rc;

use corecast_model::CostModel;

use super::anneal::TreeAnnealer;
use super::construct::{Nodes, construct, quick};
use super::state::PairCosts;
use super::{Effort, SearchProgress, SearchWatch};
use crate::cost;
use crate::operation::Operation;
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
/// Most roots that are searched in depth.
const DEEP: usize = 12;
/// Moves of the first round of each root.
const FIRST: u64 = 4096;

/// The searches for one root.
struct RootSearches {
    inward: TreeAnnealer,
    outward: TreeAnnealer,
}

impl RootSearches {
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
/// sees the latency of the best pair so far.
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
    let mirrored = costs.mirrored();
    let numa = costs.numa_nodes();
    let starts = match root {
        Some(root) => {
            let trees = [&mirrored, costs].map(|costs| construct(costs, Some(root)));
            vec![trees]
        }
        None => ranked(costs, &mirrored, watch),
    };
    let pairs = |costs: &CostModel, tree: &Tree| {
        let latency = cost::latency(costs, tree, Operation::Broadcast);
        Rc::new(PairCosts::of(costs, latency))
    };
    let [inward, outward] = &starts[0];
    let (in_pairs, out_pairs) = (pairs(&mirrored, inward), pairs(costs, outward));
    let search = |[inward, outward]: &[Tree; 2]| RootSearches {
        inward: TreeAnnealer::new(&in_pairs, numa, inward, false, effort.seed),
        outward: TreeAnnealer::new(&out_pairs, numa, outward, false, effort.seed),
    };
    let mut searches: Vec<RootSearches> = starts.iter().map(search).collect();
    deepen(&mut searches, lower_bound, effort.moves, watch);
    let latency = |pair: &RootSearches| pair.latency();
    let best = searches
        .into_iter()
        .reduce(|a, b| if latency(&b) < latency(&a) { b } else { a });
    let mut best = best.unwrap_or_else(|| unreachable!("a team has a member"));
    TwoTrees {
        latency: best.latency(),
        inward: best.inward.tree().reversed(),
        outward: best.outward.tree(),
    }
}

/// Returns quickly made trees for the most promising roots, best first.
///
/// Smelt's root is looked at first, and then those with the cheapest messages in both directions.
/// When a watcher ends the search, the roots looked at so far are the result.
fn ranked(costs: &CostModel, mirrored: &CostModel, watch: SearchWatch<'_>) -> Vec<[Tree; 2]> {
    let (n, first) = (costs.n(), smelt::root(costs));
    let sum = |r: usize| {
        (0..n)
            .map(|x| costs.send(r, x) + costs.receive(x, r))
            .sum::<f64>()
    };
    let mut roots: Vec<(f64, usize)> = (0..n).map(|r| (sum(r), r)).collect();
    roots.sort_by(|a, b| {
        (a.1 != first, a.0)
            .partial_cmp(&(b.1 != first, b.0))
            .unwrap_or(Equal)
    });
    let nodes = Nodes::of(costs);
    let mirrored_nodes = Nodes::of(mirrored);
    let mut found: Vec<(f64, [Tree; 2])> = Vec::new();
    let mut best = f64::INFINITY;
    for &(_, root) in roots.iter().take(WIDE) {
        let (inward, before) = quick(mirrored, &mirrored_nodes, root);
        let (outward, after) = quick(costs, &nodes, root);
        best = best.min(before + after);
        found.push((before + after, [inward, outward]));
        let progress = SearchProgress {
            latency: best,
            moves: 0,
            rounds: 0,
        };
        if watch(&progress).is_break() {
            break;
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.truncate(DEEP);
    found.into_iter().map(|(_, trees)| trees).collect()
}

/// Searches in rounds of increasing length, after each of which the worse half of the roots is
/// dropped.
fn deepen(searches: &mut Vec<RootSearches>, lower_bound: f64, moves: u64, watch: SearchWatch<'_>) {
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
