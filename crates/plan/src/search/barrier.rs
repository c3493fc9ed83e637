//! Two trees with one root: the best way in and the best way out of a barrier.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::anneal::Annealer;
use super::construct::construct;
use super::state::Pairs;
use super::{Effort, Progress, Watch};
use crate::tree::Tree;

/// What a search for a barrier found.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoTrees {
    /// The fan-in, as a reduction's tree: lists in the order in which children are taken.
    pub inward: Tree,
    /// The fan-out, as a broadcast's tree with the same root.
    pub outward: Tree,
    /// Both latencies together.
    pub latency: f64,
}

/// Roots that are looked at in depth where the root is free.
const DEEP: usize = 6;
/// Moves of the first turn of each root.
const FIRST: u64 = 1024;

/// The searches for one root.
struct Pair<'a> {
    inward: Annealer<'a>,
    outward: Annealer<'a>,
}

impl Pair<'_> {
    fn latency(&self) -> f64 {
        self.inward.latency() + self.outward.latency()
    }

    fn is_done(&self) -> bool {
        self.inward.is_done() && self.outward.is_done()
    }
}

/// The best pair of trees with one root for a barrier: the reduction's latency plus the broadcast's
/// is to be least.
///
/// `lower_bound` is one of both phases together, below which nothing can be; the search ends when
/// it is reached. The watcher sees the latency of the best pair so far.
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
    watch: Watch<'_>,
) -> TwoTrees {
    let mirrored = costs.mirrored();
    let (in_pairs, out_pairs) = (Pairs::of(&mirrored), Pairs::of(costs));
    let mut roots: Vec<usize> = match root {
        Some(root) => vec![root],
        None => ranked(costs),
    };
    roots.truncate(DEEP);
    let search = |&root: &usize| Pair {
        inward: Annealer::new(
            &in_pairs,
            &construct(&mirrored, Some(root)),
            false,
            0.0,
            effort.seed,
        ),
        outward: Annealer::new(
            &out_pairs,
            &construct(costs, Some(root)),
            false,
            0.0,
            effort.seed,
        ),
    };
    let mut searches: Vec<Pair<'_>> = roots.iter().map(search).collect();
    deepen(&mut searches, lower_bound, effort.moves, watch);
    let latency = |pair: &Pair<'_>| pair.latency();
    let best = searches
        .into_iter()
        .reduce(|a, b| if latency(&b) < latency(&a) { b } else { a });
    let best = best.unwrap_or_else(|| unreachable!("a team has a member"));
    TwoTrees {
        latency: best.latency(),
        inward: best.inward.tree().reversed(),
        outward: best.outward.tree(),
    }
}

/// All members, those with the cheapest messages both ways first.
fn ranked(costs: &CostModel) -> Vec<usize> {
    let n = costs.n();
    let mean = |r: usize| {
        let both = (0..n).map(|x| costs.send(r, x) + costs.receive(x, r));
        both.sum::<f64>()
    };
    let mut all: Vec<(f64, usize)> = (0..n).map(|r| (mean(r), r)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    all.into_iter().map(|(_, r)| r).collect()
}

/// Turns that get longer, from which the worst roots drop out.
fn deepen(searches: &mut Vec<Pair<'_>>, lower_bound: f64, moves: u64, watch: Watch<'_>) {
    let mut spent = 0;
    let mut turn = FIRST;
    loop {
        for at in 0..searches.len() {
            for inward in [true, false] {
                let others = searches
                    .iter()
                    .map(Pair::latency)
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
                let flow = search.run(length, &mut |progress: &Progress| {
                    watch(&Progress {
                        latency: others.min(progress.latency + other),
                        moves: spent + progress.moves,
                        round: progress.round,
                    })
                });
                spent += length;
                if flow == ControlFlow::Break(()) {
                    return;
                }
            }
        }
        if searches.iter().all(Pair::is_done) {
            return;
        }
        searches.sort_by(|a, b| a.latency().total_cmp(&b.latency()));
        let keep = searches.len().div_ceil(2);
        searches.truncate(keep);
        turn = turn.saturating_mul(2);
    }
}
