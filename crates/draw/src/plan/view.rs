//! One tree of a drawing, with the times at which its members are ready.

use corecast_plan::chain::Moment;
use corecast_plan::groups::Grouped;
use corecast_plan::{BusyKind, Operation, Timeline, Tree};

/// A tree with the data that a picture of it shows.
#[derive(Clone, Debug)]
pub(super) struct View<'a> {
    /// `fan-in` or `fan-out` where there are two trees.
    pub(super) heading: Option<&'static str>,
    pub(super) tree: &'a Tree,
    /// For each rank the place of its group in its parent's list, from 1; 0 for the root.
    pub(super) place: Vec<usize>,
    /// Whether it is a tree of groups, whose members share a line with their parent.
    pub(super) grouped: bool,
    /// The direction of messages: from the root in a broadcast, to it in a reduction, both ways in a barrier.
    pub(super) direction: Operation,
    /// Time at which each rank has what it waits for: the value, all values of its subtree, or the permission to leave.
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
            place: places(tree, None),
            grouped: false,
            direction,
            avail: timeline.avail.clone(),
            critical: critical(tree, timeline, chain, turn..f64::INFINITY),
        }
    }

    /// A barrier's two trees; `inward` is the time at which each rank has heard from all of its subtree.
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
            place: places(fan_in, None),
            grouped: false,
            direction: Operation::Reduce,
            avail: inward,
            critical: critical(fan_in, timeline, chain, 0.0..turn),
        };
        let second = Self {
            heading: Some("fan-out"),
            tree: fan_out,
            place: places(fan_out, None),
            grouped: false,
            direction: Operation::Broadcast,
            avail: timeline.avail.clone(),
            critical: critical(fan_out, timeline, chain, turn..f64::INFINITY),
        };
        vec![first, second]
    }

    /// Gives all members of a group one place.
    pub(super) fn with_groups(mut self, groups: &Grouped) -> Self {
        self.place = places(self.tree, Some(groups));
        self.grouped = true;
        self
    }

    /// Whether any members share a place.
    pub(super) fn shares_lines(&self) -> bool {
        let mut lists = self.tree.child_lists().iter();
        lists.any(|list| {
            let mut pairs = list.windows(2);
            pairs.any(|pair| self.place[pair[0]] == self.place[pair[1]])
        })
    }

    /// Number of members with the place of this rank, itself included.
    pub(super) fn group(&self, rank: usize) -> usize {
        let siblings = self.tree.parent(rank).map(|p| self.tree.children(p));
        let same = |&&c: &&usize| self.place[c] == self.place[rank];
        siblings.map_or(1, |list| list.iter().filter(same).count())
    }

    /// The first and the last time; the last is always greater.
    pub(super) fn span(&self) -> (f64, f64) {
        let first = self.avail.iter().copied().fold(f64::INFINITY, f64::min);
        let last = self.avail.iter().copied().fold(0.0, f64::max);
        (first, last.max(first + f64::MIN_POSITIVE))
    }
}

/// The place of each rank, or of its group, in its parent's list.
fn places(tree: &Tree, groups: Option<&Grouped>) -> Vec<usize> {
    let mut place = vec![0; tree.len()];
    for rank in 0..tree.len() {
        match groups {
            Some(groups) => {
                for (k, group) in groups.groups(rank).iter().enumerate() {
                    group.iter().for_each(|&c| place[c] = k + 1);
                }
            }
            None => {
                for (k, &c) in tree.children(rank).iter().enumerate() {
                    place[c] = k + 1;
                }
            }
        }
    }
    place
}

/// For each rank whether its message from or to its parent, within this span of time, is on the critical chain.
fn critical(
    tree: &Tree,
    timeline: &Timeline,
    chain: &[Moment],
    within: std::ops::Range<f64>,
) -> Vec<bool> {
    let mut marked = vec![false; tree.len()];
    for &Moment { rank, at } in chain {
        let time = timeline.busy[rank][at];
        if !within.contains(&time.start) {
            continue;
        }
        if time.kind == BusyKind::Send {
            // Members write to a shared line one after another, so several sends may be on the chain.
            if tree.parent(rank) == Some(time.peer) {
                marked[rank] = true;
            }
        } else if tree.parent(rank) == Some(time.peer) {
            marked[rank] = true;
        } else if tree.parent(time.peer) == Some(rank) {
            marked[time.peer] = true;
        }
    }
    marked
}
