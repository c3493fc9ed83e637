//! "Shuffling: adding further cross-NUMA links" (Smelt §3.3.2).

use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::edges::Edges;
use crate::pace::{self, FAR, Pace};
use crate::tree::Tree;

/// The member that takes over the one that finishes last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Helper {
    /// The member that is first done with all its sends, as the paper says.
    FirstIdle,
    /// The member under which the move finishes first: least idle + send + receive, as Smelt's
    /// released code does it. It finds a move whenever `FirstIdle` does, and where the first idle
    /// core is far away often a better one.
    #[default]
    EarliestFinish,
}

/// While it pays, moves the member that finishes last under one that is idle.
///
/// In each step `v_e` is the member that is last to have the message and `v_s` the [`Helper`].
/// When `send(v_s, v_e) + receive(v_s, v_e)` fits between the end of `v_s`'s sends and the end of
/// the broadcast, `v_e` becomes the last child of `v_s` and all lists are
/// [reordered](super::reorder()).
///
/// The paper leaves two things open. Several members may finish last together; then moving one of
/// them cannot make the broadcast faster, but may be the first of the moves that do. And the moved
/// send may delay others. So a step counts as progress when the latency falls, or when it stays and
/// fewer members finish last; any other step is undone and ends the search. Hence the result is
/// never worse than the input, and the search ends.
///
/// # Panics
///
/// When tree and model have different numbers of members.
///
/// # Cost
///
/// O(n log n) for each step; at most 2n steps.
#[must_use]
pub fn shuffle(costs: &CostModel, tree: &Tree, helper: Helper) -> Tree {
    pace::unwatched(|pace| shuffle_within(costs, tree, helper, pace))
}

/// Returns [`shuffle`], unless a watcher ends the search.
pub(super) fn shuffle_within(
    costs: &CostModel,
    tree: &Tree,
    helper: Helper,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Tree> {
    assert_eq!(
        costs.n(),
        tree.len(),
        "the tree and the cost model are of different teams"
    );
    let mut best = tree.clone();
    let mut edges = Edges::of(costs, tree);
    let mut standing = Standing::of(&edges, &best);
    for _ in 0..2 * tree.len() {
        // Every other member's costs to the last one lie in a row of their own.
        pace.spend(FAR * tree.len() as u64)?;
        let Some((first, last)) = step(costs, &best, &standing, helper) else {
            break;
        };
        edges.send[last] = costs.send(first, last);
        edges.receive[last] = costs.receive(first, last);
        let moved = edges.reordered(with_moved(&best, first, last));
        let next = Standing::of(&edges, &moved);
        if !next.beats(&standing) {
            break;
        }
        best = moved;
        standing = next;
    }
    ControlFlow::Continue(best)
}

/// Returns the new parent and the member that finishes last; `None` when the move does not fit.
fn step(
    costs: &CostModel,
    tree: &Tree,
    standing: &Standing,
    helper: Helper,
) -> Option<(usize, usize)> {
    let last = standing.last;
    // The member that moves cannot serve itself, nor can a member below it, so only leaves move.
    if !tree.is_leaf(last) {
        return None;
    }
    let rating = |v: usize| {
        let finish = standing.idle[v] + costs.send(v, last) + costs.receive(v, last);
        let key = match helper {
            Helper::FirstIdle => standing.idle[v],
            Helper::EarliestFinish => finish,
        };
        (key, v, finish)
    };
    let others = (0..tree.len()).filter(|&v| v != last).map(rating);
    let (_, first, finish) = others.min_by(|(a, ..), (b, ..)| a.total_cmp(b))?;
    (finish < standing.latency).then_some((first, last))
}

/// Returns the tree in which a leaf is the last child of another parent.
fn with_moved(tree: &Tree, to: usize, leaf: usize) -> Tree {
    let mut lists = tree.child_lists().to_vec();
    if let Some(old) = tree.parent(leaf) {
        lists[old].retain(|&c| c != leaf);
    }
    lists[to].push(leaf);
    Tree::by_construction(tree.root(), lists)
}

/// The times of a tree, and the members that finish last.
struct Standing {
    /// When each rank is done with its sends.
    idle: Vec<f64>,
    latency: f64,
    /// The lowest rank that finishes last.
    last: usize,
    /// The number of members that finish last together.
    ties: usize,
}

impl Standing {
    fn of(edges: &Edges, tree: &Tree) -> Self {
        let (avail, idle) = edges.avail_and_idle(tree);
        let latency = avail.iter().copied().fold(0.0, f64::max);
        let at_end = || (0..avail.len()).filter(|&v| avail[v] == latency);
        // A member that serves others at no cost can finish at the same time; the leaf is the one
        // to move.
        let last = at_end().find(|&v| tree.is_leaf(v)).unwrap_or(tree.root());
        let ties = at_end().count();
        Self {
            idle,
            latency,
            last,
            ties,
        }
    }

    fn beats(&self, other: &Self) -> bool {
        self.latency < other.latency || (self.latency == other.latency && self.ties < other.ties)
    }
}
