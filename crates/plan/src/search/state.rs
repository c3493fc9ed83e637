//! A tree that is being changed, with its latency always up to date.
//!
//! For every member v the state keeps its child list in the exact order (by decreasing *tail*,
//! `receive(v, c) + below(c)`) with the costs of each edge beside the child, and `below(v)`, the
//! latency under v. The latency of the tree is `below(root)`. Beside it stands the sum for the soft
//! maximum of idle times (see `soft.rs`), which is made along the same ways.
//!
//! ```text
//!   lists[v]:  | c, send, receive, tail | c', … | c'', … |     tails fall from left to right
//!   below[v] = max over k of (send_1 + … + send_k + tail_k)
//! ```
//!
//! A change edits one or two lists and then *lifts*: it recomputes `below` on the way to the root
//! and stops where nothing changes. So it costs the length of that way times the length of the
//! lists on it, whatever the size of the team. Every edit is written to a log, which
//! [`TreeState::undo`] plays backwards; nothing is allocated once lists and log have grown.
//!
//! Invariants, between two changes (checked by [`TreeState::verify`]):
//!
//! 1. the lists are those of one tree below `root`, and `parent` says the same;
//! 2. `tail = receive + below(child)` and tails do not rise within a list;
//! 3. the sums of a member are what its list says, bit for bit: they are always recomputed, never
//!    adjusted.

use std::cell::Cell;
use std::rc::Rc;

use super::pairs::PairCosts;
use super::soft;
use crate::tree::Tree;

/// An entry of a child list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    rank: u32,
    pub(super) send: f64,
    pub(super) receive: f64,
    /// From the end of the send until the whole sub-tree has the value.
    pub(super) tail: f64,
    /// The factor of `send` in a soft maximum.
    soft_send: f64,
    /// The soft sum of its sub-tree, times counted from the end of the send.
    soft_tail: f64,
}

impl Child {
    #[inline]
    pub(super) fn rank(&self) -> usize {
        self.rank as usize
    }
}

/// The sums over a sub-tree, with times counted from when its top has the value.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Sum {
    /// The latency.
    below: f64,
    /// The sum under the soft maximum of the times at which the members are done with all their
    /// sends.
    soft: f64,
}

/// The sums of a member without children.
const LEAF: Sum = Sum {
    below: 0.0,
    soft: 1.0,
};

/// One edit, with what is needed to undo it.
#[derive(Clone, Copy)]
enum Edit {
    Sum {
        v: u32,
        old: Sum,
    },
    Parent {
        v: u32,
        old: u32,
    },
    Root {
        old: u32,
    },
    Tail {
        v: u32,
        from: u32,
        to: u32,
        old: Child,
    },
    Inserted {
        v: u32,
        at: u32,
    },
    Removed {
        v: u32,
        at: u32,
        child: Child,
    },
    /// The old list starts at `saved[start]`.
    List {
        v: u32,
        start: u32,
    },
}

/// The parent of a root.
const NOBODY: u32 = u32::MAX;

/// A tree that is being changed.
pub(super) struct TreeState<'a> {
    pairs: Rc<PairCosts<'a>>,
    root: usize,
    lists: Vec<Vec<Child>>,
    parent: Vec<u32>,
    sums: Vec<Sum>,
    log: Vec<Edit>,
    saved: Vec<Child>,
    /// Entries of lists that were walked over since the last [`TreeState::walked`].
    walked: Cell<usize>,
}

impl<'a> TreeState<'a> {
    pub(super) fn of_tree(pairs: &Rc<PairCosts<'a>>, tree: &Tree) -> Self {
        let parents: Vec<u32> = (0..pairs.n())
            .map(|v| tree.parent(v).map_or(NOBODY, |p| p as u32))
            .collect();
        Self::of_parents(pairs, &parents)
    }

    /// Makes the state of a tree that is given by everybody's parent.
    pub(super) fn of_parents(pairs: &Rc<PairCosts<'a>>, parents: &[u32]) -> Self {
        let n = pairs.n();
        let mut state = Self {
            pairs: Rc::clone(pairs),
            root: 0,
            lists: (0..n).map(|_| Vec::with_capacity(8)).collect(),
            parent: vec![NOBODY; n],
            sums: vec![LEAF; n],
            log: Vec::with_capacity(64),
            saved: Vec::with_capacity(64),
            walked: Cell::new(0),
        };
        state.set(parents);
        state
    }

    /// Takes over another tree, which is given by everybody's parent.
    pub(super) fn set(&mut self, parents: &[u32]) {
        self.log.clear();
        self.saved.clear();
        self.lists.iter_mut().for_each(Vec::clear);
        self.parent.copy_from_slice(parents);
        for (v, &p) in parents.iter().enumerate() {
            match p {
                NOBODY => self.root = v,
                p => {
                    let child = self.entry(p as usize, v);
                    self.lists[p as usize].push(child);
                }
            }
        }
        for v in self.bottom_up() {
            self.renew(v);
            self.sums[v] = walk(&self.lists[v]);
        }
    }

    /// All members, children before parents.
    fn bottom_up(&self) -> Vec<usize> {
        let mut order = vec![self.root];
        let mut next = 0;
        while next < order.len() {
            let v = order[next];
            order.extend(self.lists[v].iter().map(Child::rank));
            next += 1;
        }
        order.reverse();
        order
    }

    /// The entry of `c` in the list of `v`.
    #[inline]
    fn entry(&self, v: usize, c: usize) -> Child {
        let (edge, sum) = (self.pairs.edge(v, c), self.sums[c]);
        Child {
            rank: c as u32,
            send: edge.send,
            receive: edge.receive,
            tail: edge.receive + sum.below,
            soft_send: edge.soft_send,
            soft_tail: edge.soft_receive * sum.soft,
        }
    }

    pub(super) fn n(&self) -> usize {
        self.parent.len()
    }

    /// Returns the entries of lists that were walked over so far. Lists are long where the best
    /// trees are flat, and a move then takes long.
    #[inline]
    pub(super) fn walked(&self) -> usize {
        self.walked.get()
    }

    /// Counts the entries of a list.
    #[inline]
    pub(super) fn count_walk(&self, v: usize) {
        self.walked.set(self.walked.get() + self.lists[v].len());
    }

    /// Counts entries from 0 again.
    pub(super) fn forget_walks(&self) {
        self.walked.set(0);
    }

    #[inline]
    pub(super) fn root(&self) -> usize {
        self.root
    }

    /// The latency of the whole tree.
    #[inline]
    pub(super) fn latency(&self) -> f64 {
        self.sums[self.root].below
    }

    /// Returns the energy, which annealing lowers: the latency, plus the soft maximum of the times at
    /// which members are idle. Most moves leave the latency as it is. Those that set members free
    /// earlier make room for moves that lower it, and late members need this most.
    #[inline]
    pub(super) fn energy(&self) -> f64 {
        let sum = &self.sums[self.root];
        if self.pairs.sharpness() == 0.0 {
            return sum.below;
        }
        sum.below + soft::ln(sum.soft / self.n() as f64) / self.pairs.sharpness()
    }

    #[inline]
    pub(super) fn below(&self, v: usize) -> f64 {
        self.sums[v].below
    }

    #[inline]
    pub(super) fn children(&self, v: usize) -> &[Child] {
        &self.lists[v]
    }

    /// The parent of anybody but the root.
    #[inline]
    pub(super) fn parent(&self, v: usize) -> Option<usize> {
        (self.parent[v] != NOBODY).then_some(self.parent[v] as usize)
    }

    /// Returns everybody's parent, as [`TreeState::set`] takes it.
    pub(super) fn parents(&self) -> &[u32] {
        &self.parent
    }

    /// Writes everybody's parent before the changes since the last `keep` or `undo`.
    pub(super) fn parents_before(&self, parents: &mut [u32]) {
        parents.copy_from_slice(&self.parent);
        for edit in self.log.iter().rev() {
            if let Edit::Parent { v, old } = *edit {
                parents[v as usize] = old;
            }
        }
    }

    pub(super) fn tree(&self) -> Tree {
        let ranks = |list: &Vec<Child>| list.iter().map(Child::rank).collect();
        Tree::by_construction(self.root, self.lists.iter().map(ranks).collect())
    }

    /// Returns when `q` would have the value if `x` and all below it were not there; `None` when `q`
    /// is itself below `x`.
    ///
    /// Lists stay in the order they have now; with `x` gone, another order can be a little better.
    #[inline]
    pub(super) fn arrival_without(&self, q: usize, x: usize) -> Option<f64> {
        let mut time = 0.0;
        let mut v = q;
        while v != self.root {
            if v == x {
                return None;
            }
            let p = self.parent[v] as usize;
            self.count_walk(p);
            for child in &self.lists[p] {
                if child.rank() == v {
                    time += child.send + child.receive;
                    break;
                }
                if child.rank() != x {
                    time += child.send;
                }
            }
            v = p;
        }
        (v != x).then_some(time)
    }

    /// Returns the latency under `q` if `x` were one more child of it, and `gone` were not its child.
    #[inline]
    pub(super) fn below_with(&self, q: usize, x: usize, gone: Option<usize>) -> f64 {
        let gone = gone.map_or(NOBODY, |v| v as u32);
        let (send, receive) = self.pairs.send_receive(q, x);
        self.count_walk(q);
        let tail = receive + self.sums[x].below;
        let (mut clock, mut last) = (0.0, 0.0_f64);
        let mut list = self.lists[q].iter();
        let mut rest = list.as_slice();
        while let Some(child) = list.next() {
            if child.tail < tail {
                break;
            }
            rest = list.as_slice();
            if child.rank == gone {
                continue;
            }
            clock += child.send;
            last = last.max(clock + child.tail);
        }
        clock += send;
        last = last.max(clock + tail);
        for child in rest.iter().filter(|child| child.rank != gone) {
            clock += child.send;
            last = last.max(clock + child.tail);
        }
        last
    }

    /// Whether `v` is `x` or below it.
    #[inline]
    pub(super) fn is_within(&self, mut v: usize, x: usize) -> bool {
        loop {
            if v == x {
                return true;
            }
            if self.parent[v] == NOBODY {
                return false;
            }
            v = self.parent[v] as usize;
        }
    }

    /// Moves `x` with all below it to another parent, which must not be below `x`.
    pub(super) fn relocate(&mut self, x: usize, to: usize) {
        debug_assert!(x != self.root && !self.is_within(to, x));
        let from = self.parent[x] as usize;
        self.remove(from, x);
        self.insert(to, x);
        self.lift(from);
        self.lift(to);
    }

    /// Lets `x` and `y` change places together with all below them. Neither may be below the other.
    pub(super) fn trade(&mut self, x: usize, y: usize) {
        debug_assert!(!self.is_within(x, y) && !self.is_within(y, x));
        let (p, q) = (self.parent[x] as usize, self.parent[y] as usize);
        self.remove(p, x);
        self.remove(q, y);
        self.insert(p, y);
        self.insert(q, x);
        self.lift(p);
        self.lift(q);
    }

    /// Lets `a` and `b` change places; the members around them stay. Either may be the root.
    pub(super) fn exchange(&mut self, a: usize, b: usize) {
        // Puts the upper one first, if one is the parent of the other.
        let (a, b) = if self.parent[a] == b as u32 {
            (b, a)
        } else {
            (a, b)
        };
        let adjacent = self.parent[b] == a as u32;
        let (above_a, above_b) = (self.parent[a], self.parent[b]);
        self.save(a);
        self.save(b);
        self.lists.swap(a, b);
        if adjacent {
            for child in self.lists[b].iter_mut().filter(|c| c.rank == b as u32) {
                child.rank = a as u32;
            }
        }
        self.adopt(a);
        self.adopt(b);
        if !adjacent {
            self.replace(above_b, b, a);
        }
        self.replace(above_a, a, b);
        for v in [a, b] {
            self.lift(v);
        }
        for p in [above_b, above_a] {
            // A former parent may by now be one of the two, which has been lifted.
            if p != NOBODY {
                self.lift(p as usize);
            }
        }
    }

    /// Puts `new` where `old` is in the list of `p`, or at the root.
    fn replace(&mut self, p: u32, old: usize, new: usize) {
        if p == NOBODY {
            self.log.push(Edit::Root {
                old: self.root as u32,
            });
            self.root = new;
            self.set_parent(new, NOBODY);
            return;
        }
        // With a common parent, or right below the other one, it may already be gone from the list.
        self.remove(p as usize, old);
        self.insert(p as usize, new);
    }

    /// Updates the parents, costs and order of a list that came from another member.
    fn adopt(&mut self, v: usize) {
        for at in 0..self.lists[v].len() {
            let c = self.lists[v][at].rank();
            self.set_parent(c, v as u32);
        }
        self.renew(v);
    }

    /// Recomputes the costs and the order of a list.
    fn renew(&mut self, v: usize) {
        self.count_walk(v);
        for at in 0..self.lists[v].len() {
            let child = self.entry(v, self.lists[v][at].rank());
            self.lists[v][at] = child;
        }
        // Stable, as if the entries were settled one after another.
        self.lists[v].sort_by(|a, b| b.tail.total_cmp(&a.tail));
    }

    fn save(&mut self, v: usize) {
        let start = self.saved.len() as u32;
        self.saved.extend_from_slice(&self.lists[v]);
        self.log.push(Edit::List { v: v as u32, start });
    }

    #[inline]
    fn set_parent(&mut self, v: usize, parent: u32) {
        self.log.push(Edit::Parent {
            v: v as u32,
            old: self.parent[v],
        });
        self.parent[v] = parent;
    }

    #[inline]
    fn place(&self, v: usize, c: usize) -> usize {
        let found = self.lists[v]
            .iter()
            .position(|child| child.rank == c as u32);
        found.unwrap_or_else(|| unreachable!("{c} is a child of {v}"))
    }

    #[inline]
    fn remove(&mut self, v: usize, c: usize) {
        let at = self.place(v, c);
        let child = self.lists[v].remove(at);
        self.log.push(Edit::Removed {
            v: v as u32,
            at: at as u32,
            child,
        });
    }

    #[inline]
    fn insert(&mut self, v: usize, c: usize) {
        let child = self.entry(v, c);
        self.lists[v].push(child);
        let last = self.lists[v].len() - 1;
        let at = settle(&mut self.lists[v], last);
        self.log.push(Edit::Inserted {
            v: v as u32,
            at: at as u32,
        });
        self.set_parent(c, v as u32);
    }

    /// Recomputes `below` from `v` to the root, as far as it changes.
    #[inline]
    fn lift(&mut self, mut v: usize) {
        loop {
            self.count_walk(v);
            let new = walk(&self.lists[v]);
            let old = std::mem::replace(&mut self.sums[v], new);
            if new == old {
                return;
            }
            self.log.push(Edit::Sum { v: v as u32, old });
            if v == self.root {
                return;
            }
            let p = self.parent[v] as usize;
            let from = self.place(p, v);
            let child = &mut self.lists[p][from];
            let old = *child;
            child.tail = child.receive + new.below;
            child.soft_tail = self.pairs.edge(p, v).soft_receive * new.soft;
            let to = settle(&mut self.lists[p], from);
            self.log.push(Edit::Tail {
                v: p as u32,
                from: from as u32,
                to: to as u32,
                old,
            });
            v = p;
        }
    }

    /// Makes all changes since the last `keep` or `undo` permanent.
    #[inline]
    pub(super) fn keep(&mut self) {
        self.log.clear();
        self.saved.clear();
    }

    /// Takes back all changes since the last `keep` or `undo`.
    pub(super) fn undo(&mut self) {
        while let Some(edit) = self.log.pop() {
            match edit {
                Edit::Sum { v, old } => self.sums[v as usize] = old,
                Edit::Parent { v, old } => self.parent[v as usize] = old,
                Edit::Root { old } => self.root = old as usize,
                Edit::Tail { v, from, to, old } => {
                    let list = &mut self.lists[v as usize];
                    shift(list, to as usize, from as usize);
                    list[from as usize] = old;
                }
                Edit::Inserted { v, at } => {
                    self.lists[v as usize].remove(at as usize);
                }
                Edit::Removed { v, at, child } => self.lists[v as usize].insert(at as usize, child),
                Edit::List { v, start } => {
                    let list = &mut self.lists[v as usize];
                    list.clear();
                    list.extend_from_slice(&self.saved[start as usize..]);
                    self.saved.truncate(start as usize);
                }
            }
        }
    }

    /// Asserts the invariants against a tree made afresh.
    #[cfg(test)]
    pub(super) fn verify(&self) {
        let tree = self.tree();
        for v in 0..self.n() {
            assert_eq!(tree.parent(v), self.parent(v), "parent of {v}");
            let list = &self.lists[v];
            assert!(list.windows(2).all(|w| w[0].tail >= w[1].tail), "{list:?}");
            for child in list {
                let fresh = self.entry(v, child.rank());
                assert_eq!(
                    (
                        child.send,
                        child.receive,
                        child.tail,
                        child.soft_send,
                        child.soft_tail
                    ),
                    (
                        fresh.send,
                        fresh.receive,
                        fresh.tail,
                        fresh.soft_send,
                        fresh.soft_tail
                    )
                );
            }
            assert_eq!(self.sums[v], walk(list));
        }
    }
}

/// Returns the sums of the member that serves this list.
#[inline]
fn walk(list: &[Child]) -> Sum {
    let (mut clock, mut below, mut factor, mut soft) = (0.0, 0.0_f64, 1.0, 0.0);
    for child in list {
        clock += child.send;
        below = below.max(clock + child.tail);
        factor *= child.soft_send;
        soft += factor * child.soft_tail;
    }
    Sum {
        below,
        soft: soft + factor,
    }
}

/// Moves the entry at `at` to where its tail belongs, all others being in order. Returns that place.
#[inline]
fn settle(list: &mut [Child], mut at: usize) -> usize {
    let child = list[at];
    while at > 0 && list[at - 1].tail < child.tail {
        list[at] = list[at - 1];
        at -= 1;
    }
    while at + 1 < list.len() && list[at + 1].tail > child.tail {
        list[at] = list[at + 1];
        at += 1;
    }
    list[at] = child;
    at
}

/// Moves the entry at `from` to `to`.
#[inline]
fn shift(list: &mut [Child], from: usize, to: usize) {
    if from < to {
        list[from..=to].rotate_left(1);
    } else {
        list[to..=from].rotate_right(1);
    }
}
