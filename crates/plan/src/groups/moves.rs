//! Changes to a tree with groups, each of which can be taken back.

use super::state::{Group, GroupedState};
use crate::random::XorShift64Star;

/// The values that a change overwrote, newest last.
#[derive(Default)]
pub(super) struct Undo {
    root: usize,
    changed: Vec<(usize, Group)>,
}

impl Undo {
    pub(super) fn take_back(&mut self, state: &mut GroupedState) {
        state.root = self.root;
        while let Some((rank, group)) = self.changed.pop() {
            (state.parent[rank], state.slot[rank]) = group;
        }
    }

    fn set(&mut self, state: &mut GroupedState, rank: usize, group: Group) {
        self.changed.push((rank, state.group(rank)));
        (state.parent[rank], state.slot[rank]) = group;
    }

    /// Moves all members for which `meant` holds into one group. Returns whether there were any.
    fn gather(
        &mut self,
        state: &mut GroupedState,
        group: Group,
        mut meant: impl FnMut(&GroupedState, usize) -> bool,
    ) -> bool {
        let before = self.changed.len();
        for rank in 0..state.parent.len() {
            if meant(state, rank) {
                self.set(state, rank, group);
            }
        }
        self.changed.len() > before
    }
}

/// Makes one random change, and now and then several at once, since the way to a better tree may
/// lead over a far worse one. Returns `false` when nothing was changed.
pub(super) fn change(
    state: &mut GroupedState,
    random: &mut XorShift64Star,
    free_root: bool,
    undo: &mut Undo,
) -> bool {
    undo.root = state.root;
    undo.changed.clear();
    let mut any = step(state, random, free_root, undo);
    while random.below(3) == 0 {
        any |= step(state, random, free_root, undo);
    }
    any
}

/// Makes one change. Returns `false` when the one that was drawn is impossible.
fn step(
    state: &mut GroupedState,
    random: &mut XorShift64Star,
    free_root: bool,
    undo: &mut Undo,
) -> bool {
    let n = state.parent.len();
    let (x, y) = (random.below(n), random.below(n));
    if x == y {
        return false;
    }
    match random.below(16) {
        0..4 => alone(state, x, y, undo),
        4..8 => join(state, x, y, undo),
        8..11 => exchange(state, x, y, free_root, undo),
        11..13 => merge(state, x, y, undo),
        13 => split(state, x, random, undo),
        14 => lift(state, x, y, undo),
        _ => sink(state, x, y, undo),
    }
}

/// x, with all below it, becomes a group of one of y's.
fn alone(state: &mut GroupedState, x: usize, y: usize, undo: &mut Undo) -> bool {
    if x == state.root || state.is_above(x, y) {
        return false;
    }
    let group = (y, state.fresh());
    undo.set(state, x, group);
    true
}

/// x, with all below it, joins y's group.
fn join(state: &mut GroupedState, x: usize, y: usize, undo: &mut Undo) -> bool {
    if x == state.root || y == state.root || state.is_above(x, y) || state.same_group(x, y) {
        return false;
    }
    let group = state.group(y);
    undo.set(state, x, group);
    true
}

/// x and y change places; their children stay where they are.
fn exchange(
    state: &mut GroupedState,
    x: usize,
    y: usize,
    free_root: bool,
    undo: &mut Undo,
) -> bool {
    if !free_root && (x == state.root || y == state.root) {
        return false;
    }
    let other = |rank: usize| match rank {
        _ if rank == x => y,
        _ if rank == y => x,
        _ => rank,
    };
    let at = |state: &GroupedState, rank: usize| (other(state.parent[rank]), state.slot[rank]);
    let (x_at, y_at) = (at(state, x), at(state, y));
    for rank in 0..state.parent.len() {
        let parent = state.parent[rank];
        if rank != x && rank != y && (parent == x || parent == y) {
            let slot = state.slot[rank];
            undo.set(state, rank, (other(parent), slot));
        }
    }
    undo.set(state, x, y_at);
    undo.set(state, y, x_at);
    state.root = other(state.root);
    true
}

/// Moves all of x's group into y's.
fn merge(state: &mut GroupedState, x: usize, y: usize, undo: &mut Undo) -> bool {
    if x == state.root || y == state.root || state.same_group(x, y) {
        return false;
    }
    let (from, to) = (state.group(x), state.group(y));
    let is_above = |rank: usize| state.is_in(rank, from) && state.is_above(rank, y);
    if (0..state.parent.len()).any(is_above) {
        return false;
    }
    undo.gather(state, to, |state, rank| state.is_in(rank, from))
}

/// About half of x's group, x among them, become a group of their own.
fn split(state: &mut GroupedState, x: usize, random: &mut XorShift64Star, undo: &mut Undo) -> bool {
    if x == state.root {
        return false;
    }
    let from = state.group(x);
    let to = (from.0, state.fresh());
    let others = undo.gather(state, to, |state, rank| {
        rank != x && state.is_in(rank, from) && random.below(2) == 0
    });
    undo.set(state, x, to);
    others
}

/// All children of x join y's group, which is another parent's.
fn lift(state: &mut GroupedState, x: usize, y: usize, undo: &mut Undo) -> bool {
    if y == state.root || state.parent[y] == x {
        return false;
    }
    let group = state.group(y);
    undo.gather(state, group, |state, rank| {
        state.is_child(rank, x) && !state.is_above(rank, y)
    })
}

/// The others of x's group become one group of y's.
fn sink(state: &mut GroupedState, x: usize, y: usize, undo: &mut Undo) -> bool {
    if x == state.root {
        return false;
    }
    let from = state.group(x);
    let to = (y, state.fresh());
    undo.gather(state, to, |state, rank| {
        rank != x && state.is_in(rank, from) && !state.is_above(rank, y)
    })
}
