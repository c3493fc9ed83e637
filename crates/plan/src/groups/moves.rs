//! Changes to a tree with groups, each of which can be taken back.

use super::state::State;

/// A seeded generator; its sequence is part of what a plan is made from, so it is fixed here
/// (xorshift64*, Vigna, *An experimental exploration of Marsaglia's xorshift generators*, 2016).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        // A state of 0 would stay there; one step mixes seeds that are near each other.
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        random.bits();
        random
    }

    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From 0 to n − 1; n is far below 2³².
    pub(super) fn below(&mut self, n: usize) -> usize {
        (((self.bits() >> 32) * n as u64) >> 32) as usize
    }

    /// From 0 to below 1.
    pub(super) fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// What a change overwrote, newest last.
#[derive(Default)]
pub(super) struct Undo {
    root: usize,
    changed: Vec<(usize, usize, usize)>,
}

impl Undo {
    pub(super) fn take_back(&mut self, state: &mut State) {
        state.root = self.root;
        while let Some((rank, parent, slot)) = self.changed.pop() {
            (state.parent[rank], state.slot[rank]) = (parent, slot);
        }
    }

    fn set(&mut self, state: &mut State, rank: usize, parent: usize, slot: usize) {
        self.changed
            .push((rank, state.parent[rank], state.slot[rank]));
        (state.parent[rank], state.slot[rank]) = (parent, slot);
    }
}

/// Makes one change by chance, and now and then some more at once: the way to a better tree may
/// lead over a far worse one. `false` when nothing was changed.
pub(super) fn change(
    state: &mut State,
    random: &mut Random,
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

/// One change; `false` when the one that was drawn is impossible.
fn step(state: &mut State, random: &mut Random, free_root: bool, undo: &mut Undo) -> bool {
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
fn alone(state: &mut State, x: usize, y: usize, undo: &mut Undo) -> bool {
    if x == state.root || state.is_above(x, y) {
        return false;
    }
    let slot = state.fresh();
    undo.set(state, x, y, slot);
    true
}

/// x, with all below it, joins y's group.
fn join(state: &mut State, x: usize, y: usize, undo: &mut Undo) -> bool {
    if x == state.root || y == state.root || state.is_above(x, y) || state.same_group(x, y) {
        return false;
    }
    let (parent, slot) = (state.parent[y], state.slot[y]);
    undo.set(state, x, parent, slot);
    true
}

/// x and y change places; their children stay where they are.
fn exchange(state: &mut State, x: usize, y: usize, free_root: bool, undo: &mut Undo) -> bool {
    if !free_root && (x == state.root || y == state.root) {
        return false;
    }
    let other = |rank: usize| match rank {
        _ if rank == x => y,
        _ if rank == y => x,
        _ => rank,
    };
    let at = |state: &State, rank: usize| (other(state.parent[rank]), state.slot[rank]);
    let (x_at, y_at) = (at(state, x), at(state, y));
    for rank in 0..state.parent.len() {
        let parent = state.parent[rank];
        if rank != x && rank != y && (parent == x || parent == y) {
            let slot = state.slot[rank];
            undo.set(state, rank, other(parent), slot);
        }
    }
    undo.set(state, x, y_at.0, y_at.1);
    undo.set(state, y, x_at.0, x_at.1);
    state.root = other(state.root);
    true
}

/// All of x's group join y's.
fn merge(state: &mut State, x: usize, y: usize, undo: &mut Undo) -> bool {
    if x == state.root || y == state.root || state.same_group(x, y) {
        return false;
    }
    let (parent, slot) = (state.parent[y], state.slot[y]);
    let group = |state: &State, rank: usize| state.same_group(rank, x);
    let members = 0..state.parent.len();
    if members
        .clone()
        .any(|rank| group(state, rank) && state.is_above(rank, y))
    {
        return false;
    }
    let whole: Vec<usize> = members.filter(|&rank| group(state, rank)).collect();
    for rank in whole {
        undo.set(state, rank, parent, slot);
    }
    true
}

/// About half of x's group, x among them, become a group of their own.
fn split(state: &mut State, x: usize, random: &mut Random, undo: &mut Undo) -> bool {
    let before = undo.changed.len();
    if x == state.root {
        return false;
    }
    let slot = state.fresh();
    let (parent, old) = (state.parent[x], state.slot[x]);
    for rank in 0..state.parent.len() {
        let with = state.is_child(rank, parent) && state.slot[rank] == old && rank != x;
        if with && random.below(2) == 0 {
            undo.set(state, rank, parent, slot);
        }
    }
    undo.set(state, x, parent, slot);
    undo.changed.len() > before + 1
}

/// All children of x join y's group, which is another parent's.
fn lift(state: &mut State, x: usize, y: usize, undo: &mut Undo) -> bool {
    let before = undo.changed.len();
    if y == state.root || state.parent[y] == x {
        return false;
    }
    let (parent, slot) = (state.parent[y], state.slot[y]);
    for rank in 0..state.parent.len() {
        if state.is_child(rank, x) && !state.is_above(rank, y) {
            undo.set(state, rank, parent, slot);
        }
    }
    undo.changed.len() > before
}

/// The others of x's group become one group of y's.
fn sink(state: &mut State, x: usize, y: usize, undo: &mut Undo) -> bool {
    let before = undo.changed.len();
    if x == state.root {
        return false;
    }
    let slot = state.fresh();
    let (parent, old) = (state.parent[x], state.slot[x]);
    for rank in 0..state.parent.len() {
        let with = state.is_child(rank, parent) && state.slot[rank] == old && rank != x;
        if with && !state.is_above(rank, y) {
            undo.set(state, rank, y, slot);
        }
    }
    undo.changed.len() > before
}
