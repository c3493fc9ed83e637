//! A tree with groups as a search changes it, and its exact latency.
//!
//! Each member has a parent and a *slot*: members with the same parent and slot are a group. Slots
//! are only compared, and lists are put in their best order when the latency is taken, so a change
//! is a change of a few numbers.

use corecast_model::{CostModel, Lines};

use super::Grouped;
use super::cost::{Serve, Take};

/// The latency that a search makes short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// The latency of the fan-out.
    Out,
    /// The latency of the fan-in.
    In,
    /// The latency of both over one tree, in the order that suits the fan-out.
    Both,
}

/// The parent and the slot, which exactly the members of one group have in common.
pub(super) type Group = (usize, usize);

/// Parents and slots.
#[derive(Clone, Debug)]
pub(super) struct GroupedState {
    pub(super) root: usize,
    /// The parent of each member; the root's parent is the root itself.
    pub(super) parent: Vec<usize>,
    pub(super) slot: Vec<usize>,
    fresh: usize,
}

impl GroupedState {
    pub(super) fn new(grouped: &Grouped) -> Self {
        let n = grouped.len();
        let mut state = Self {
            root: grouped.root(),
            parent: vec![grouped.root(); n],
            slot: vec![0; n],
            fresh: 0,
        };
        for v in 0..n {
            for group in grouped.groups(v) {
                let slot = state.fresh();
                for &c in group {
                    (state.parent[c], state.slot[c]) = (v, slot);
                }
            }
        }
        state
    }

    /// Returns a slot that no member has.
    pub(super) fn fresh(&mut self) -> usize {
        self.fresh += 1;
        self.fresh
    }

    /// Whether `above` is `below` or one of its ancestors.
    pub(super) fn is_above(&self, above: usize, mut below: usize) -> bool {
        while below != above && below != self.root {
            below = self.parent[below];
        }
        below == above
    }

    pub(super) fn is_child(&self, rank: usize, parent: usize) -> bool {
        rank != self.root && self.parent[rank] == parent
    }

    /// Returns the group that a rank belongs to; that of the root has no members.
    pub(super) fn group(&self, rank: usize) -> Group {
        (self.parent[rank], self.slot[rank])
    }

    pub(super) fn is_in(&self, rank: usize, group: Group) -> bool {
        rank != self.root && self.group(rank) == group
    }

    pub(super) fn same_group(&self, a: usize, b: usize) -> bool {
        a != self.root && self.is_in(b, self.group(a))
    }
}

/// Computes latencies, in memory that is reused.
pub(super) struct LatencyScratch<'a> {
    costs: &'a CostModel,
    lines: &'a Lines,
    aim: Aim,
    /// Where each member's children begin in `kids`.
    begin: Vec<usize>,
    kids: Vec<usize>,
    order: Vec<usize>,
    /// Latency of the fan-out below each member.
    below: Vec<f64>,
    /// When each member has taken its children in the fan-in.
    avail: Vec<f64>,
    list: Vec<GroupEntry>,
}

/// A group in the list of its parent.
#[derive(Clone, Copy)]
struct GroupEntry {
    /// The key by which groups are ordered, least first.
    key: f64,
    serve: Serve,
    take: Option<Take>,
    /// Its members in `kids`.
    from: usize,
    to: usize,
}

impl<'a> LatencyScratch<'a> {
    pub(super) fn new(costs: &'a CostModel, lines: &'a Lines, aim: Aim) -> Self {
        let n = costs.n();
        Self {
            costs,
            lines,
            aim,
            begin: vec![0; n + 1],
            kids: vec![0; n],
            order: Vec::with_capacity(n),
            below: vec![0.0; n],
            avail: vec![0.0; n],
            list: Vec::new(),
        }
    }

    /// Returns the latency with every list in its best order.
    pub(super) fn latency(&mut self, state: &GroupedState) -> f64 {
        self.walk(state, |_, _| {})
    }

    /// Returns the tree with every list in that order.
    pub(super) fn grouped(&mut self, state: &GroupedState) -> Grouped {
        let mut lists = vec![Vec::new(); state.parent.len()];
        self.walk(state, |v, group| {
            let mut group = group.to_vec();
            group.sort_unstable();
            lists[v].push(group);
        });
        Grouped::by_construction(state.root, lists)
    }

    fn walk(&mut self, state: &GroupedState, mut keep: impl FnMut(usize, &[usize])) -> f64 {
        self.lay_out(state);
        for at in (0..self.order.len()).rev() {
            let v = self.order[at];
            let (from, to) = (self.begin[v], self.begin[v + 1]);
            if from == to {
                (self.below[v], self.avail[v]) = (0.0, 0.0);
                continue;
            }
            self.collect(state, v, from, to);
            self.finish(v);
            for entry in &self.list {
                keep(v, &self.kids[entry.from..entry.to]);
            }
        }
        match self.aim {
            Aim::Out => self.below[state.root],
            Aim::In => self.avail[state.root],
            Aim::Both => self.avail[state.root] + self.below[state.root],
        }
    }

    /// Sorts children by parent and slot, and lists parents before children.
    fn lay_out(&mut self, state: &GroupedState) {
        let n = state.parent.len();
        self.begin.fill(0);
        for c in (0..n).filter(|&c| c != state.root) {
            self.begin[state.parent[c] + 1] += 1;
        }
        for v in 0..n {
            self.begin[v + 1] += self.begin[v];
        }
        // `order` is used as scratch memory for the places that are taken.
        self.order.clear();
        self.order.extend_from_slice(&self.begin[..n]);
        for c in (0..n).filter(|&c| c != state.root) {
            let at = &mut self.order[state.parent[c]];
            self.kids[*at] = c;
            *at += 1;
        }
        self.order.clear();
        self.order.push(state.root);
        let mut next = 0;
        while next < self.order.len() {
            let v = self.order[next];
            let kids = &self.kids[self.begin[v]..self.begin[v + 1]];
            self.order.extend_from_slice(kids);
            next += 1;
        }
    }

    /// Collects the groups of a member in the order of its list.
    fn collect(&mut self, state: &GroupedState, v: usize, from: usize, to: usize) {
        self.kids[from..to].sort_unstable_by_key(|&c| (state.slot[c], c));
        self.list.clear();
        let mut from = from;
        while from < to {
            let slot = state.slot[self.kids[from]];
            let same = self.kids[from..to]
                .iter()
                .take_while(|&&c| state.slot[c] == slot);
            let next = from + same.count();
            let group = &mut self.kids[from..next];
            let lines = Some(self.lines);
            let serve = Serve::new(self.costs, lines, v, group, |c| self.below[c]);
            let take = (self.aim != Aim::Out)
                .then(|| Take::new(self.costs, lines, v, group, |c| self.avail[c], |_, _, _| {}));
            let key = match take {
                Some(take) if self.aim == Aim::In => take.ready,
                _ => -serve.tail,
            };
            self.list.push(GroupEntry {
                key,
                serve,
                take,
                from,
                to: next,
            });
            from = next;
        }
        self.list.sort_by(|a, b| a.key.total_cmp(&b.key));
    }

    fn finish(&mut self, v: usize) {
        let (mut clock, mut last) = (0.0, 0.0_f64);
        for entry in &self.list {
            clock += entry.serve.blocked;
            last = last.max(clock + entry.serve.tail);
        }
        self.below[v] = last;
        let take = |clock: f64, entry: &GroupEntry| match entry.take {
            Some(take) => clock.max(take.ready) + take.blocked,
            None => 0.0,
        };
        self.avail[v] = match self.aim {
            Aim::Both => self.list.iter().rev().fold(0.0, take),
            _ => self.list.iter().fold(0.0, take),
        };
    }
}
