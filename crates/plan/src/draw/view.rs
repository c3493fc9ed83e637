//! One tree of a drawing, with the times at which its members are ready.

use super::chain::Moment;
use crate::cost::{BusyKind, Timeline};
use crate::operation::Operation;
use crate::tree::Tree;

/// A tree and what a picture of it shows.
#[derive(Clone, Debug)]
pub(super) struct View<'a> {
    /// What the tree is for, where there are two.
    pub(super) heading: Option<&'static str>,
    pub(super) tree: &'a Tree,
    /// Where messages go: from the root, to it, or both.
    pub(super) direction: Operation,
    /// When each rank has what it waits for.
    pub(super) avail: Vec<f64>,
    /// Whether the message between each rank and its parent is on the critical chain.
    pub(super) critical: Vec<bool>,
}

impl<'a> View<'a> {
    /// The only tree of an operation. A barrier's picture is that of its fan-out.
    pub(super) fn of_tree(
        tree: &'a Tree,
        direction: Operation,
        timeline: &Timeline,
        chain: &[Moment],
    ) -> Self {
        let turn = match direction {
            Operation::Barrier => timeline.avail[tree.root()],
            Operation::Broadcast | Operation::Reduce => 0.0,
        };
        Self {
            heading: None,
            tree,
            direction,
            avail: timeline.avail.clone(),
            critical: critical(tree, timeline, chain, turn..f64::INFINITY),
        }
    }

    /// A barrier's two trees; `inward` is when each rank has heard of all below it.
    pub(super) fn of_trees(
        fan_in: &'a Tree,
        fan_out: &'a Tree,
        inward: Vec<f64>,
        timeline: &Timeline,
        chain: &[Moment],
    ) -> Vec<Self> {
        let turn = inward[fan_in.root()];
        let first = Self {
            heading: Some("fan-in"),
            tree: fan_in,
            direction: Operation::Reduce,
            avail: inward,
            critical: critical(fan_in, timeline, chain, 0.0..turn),
        };
        let second = Self {
            heading: Some("fan-out"),
            tree: fan_out,
            direction: Operation::Broadcast,
            avail: timeline.avail.clone(),
            critical: critical(fan_out, timeline, chain, turn..f64::INFINITY),
        };
        vec![first, second]
    }

    /// First and last of the times, never the same.
    pub(super) fn span(&self) -> (f64, f64) {
        let first = self.avail.iter().copied().fold(f64::INFINITY, f64::min);
        let last = self.avail.iter().copied().fold(0.0, f64::max);
        (first, last.max(first + f64::MIN_POSITIVE))
    }
}

/// Which ranks exchange a message of the chain with their parents, received in this time.
fn critical(
    tree: &Tree,
    timeline: &Timeline,
    chain: &[Moment],
    within: std::ops::Range<f64>,
) -> Vec<bool> {
    let mut marked = vec![false; tree.len()];
    for &Moment { rank, at } in chain {
        let time = timeline.busy[rank][at];
        if time.kind != BusyKind::Receive || !within.contains(&time.start) {
            continue;
        }
        if tree.parent(rank) == Some(time.peer) {
            marked[rank] = true;
        } else if tree.parent(time.peer) == Some(rank) {
            marked[time.peer] = true;
        }
    }
    marked
}
