//! One tree of a drawing, with the times at which its members are ready.

use corecast_plan::chain::Moment;
use corecast_plan::groups::Grouped;
use corecast_plan::{BusyKind, Operation, Timeline, Tree};

/// A tree and what a picture of it shows.
#[derive(Clone, Debug)]
pub(super) struct View<'a> {
    /// What the tree is for, where there are two.
    pub(super) heading: Option<&'static str>,
    pub(super) tree: &'a Tree,
    /// For each rank the place of its group in its parent's list, from 1; 0 for the root.
    pub(super) place: Vec<usize>,
    /// Whether it is a tree of groups, whose members share a line with their parent.
    pub(super) grouped: bool,
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
            place: places(tree, None),
            grouped: false,
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

    /// Whether any members have one place.
    pub(super) fn shares_lines(&self) -> bool {
        let mut lists = self.tree.child_lists().iter();
        lists.any(|list| {
            let mut pairs = list.windows(2);
            pairs.any(|pair| self.place[pair[0]] == self.place[pair[1]])
        })
    }

    /// Who has the same place as this rank, itself among them.
    pub(super) fn group(&self, rank: usize) -> usize {
        let siblings = self.tree.parent(rank).map(|p| self.tree.children(p));
        let same = |&&c: &&usize| self.place[c] == self.place[rank];
        siblings.map_or(1, |list| list.iter().filter(same).count())
    }

    /// The first and the last time, which always differ.
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
        if !within.contains(&time.start) {
            continue;
        }
        if time.kind == BusyKind::Send {
            // Members add to a shared line one after another: all of them may be on the chain.
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
