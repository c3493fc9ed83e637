//! The moves of a search: one random change after another, most of them where it can help.
//!
//! Only a change to the *critical chain* makes a tree faster: from the root on, the child whose
//! sub-tree finishes last and those that are served before it.
//!
//! | move | who | where to |
//! | --- | --- | --- |
//! | relocate | a member of the chain with all below it | below a near member, any member, a sibling or the grandparent |
//! | exchange | a member of the chain, or the root where it is free | the place of a near member, any member, its parent |
//! | trade | a member of the chain with all below it | the place of another sub-tree, which takes its own |
//!
//! Where a sub-tree keeps its shape, its new place alone shows whether the tree can be fast enough. Most moves are
//! refused by this test, before anything is changed.

use std::rc::Rc;

use super::pairs::PairCosts;
use super::state::TreeState;
use crate::pace::FAR;
use crate::random::SplitMix64;

/// For each member the parents that it prefers; a list is made when it is first asked for.
pub(super) struct Near {
    lists: Vec<Vec<u32>>,
    /// Lists that were made so far.
    made: usize,
}

/// Most entries of such a list.
const NEAR: usize = 12;

impl Near {
    pub(super) fn new(n: usize) -> Self {
        Self {
            lists: vec![Vec::new(); n],
            made: 0,
        }
    }

    /// Returns the members from which a message to `x` is cheapest, nearest first.
    fn of(&mut self, pairs: &PairCosts<'_>, x: usize) -> &[u32] {
        if self.lists[x].is_empty() {
            self.made += 1;
            let price = |&q: &u32| {
                let (send, receive) = pairs.send_receive(q as usize, x);
                send + receive
            };
            let order = |a: &u32, b: &u32| price(a).total_cmp(&price(b)).then(a.cmp(b));
            let mut all: Vec<u32> = (0..pairs.n() as u32).filter(|&q| q != x as u32).collect();
            if all.len() > NEAR {
                all.select_nth_unstable_by(NEAR, order);
                all.truncate(NEAR);
            }
            all.sort_unstable_by(order);
            self.lists[x] = all;
        }
        &self.lists[x]
    }
}

/// The chain that decides the latency of a state.
#[derive(Default)]
pub(super) struct Chain {
    /// Its members without the root, from the root on.
    members: Vec<u32>,
}

impl Chain {
    /// Finds the chain anew.
    pub(super) fn renew(&mut self, state: &TreeState<'_>) {
        self.members.clear();
        let mut v = state.root();
        loop {
            state.count_walk(v);
            let (mut clock, below) = (0.0, state.below(v));
            let mut tight = None;
            for child in state.children(v) {
                clock += child.send;
                self.members.push(child.rank() as u32);
                if clock + child.tail >= below {
                    tight = Some(child.rank());
                    break;
                }
            }
            match tight {
                Some(child) => v = child,
                None => return,
            }
        }
    }
}

/// Makes moves, and decides on them by latency and energy.
pub(super) struct Mover<'a> {
    pairs: Rc<PairCosts<'a>>,
    pub(super) state: TreeState<'a>,
    near: Near,
    chain: Chain,
    pub(super) random: SplitMix64,
    free_root: bool,
    /// The energy of the state before the move that is being looked at.
    energy: f64,
    /// The energy of the state with the last move.
    energy_moved: f64,
}

impl<'a> Mover<'a> {
    pub(super) fn new(
        pairs: &Rc<PairCosts<'a>>,
        state: TreeState<'a>,
        free_root: bool,
        random: SplitMix64,
    ) -> Self {
        let mut chain = Chain::default();
        chain.renew(&state);
        let energy = state.energy();
        Self {
            pairs: Rc::clone(pairs),
            near: Near::new(state.n()),
            state,
            chain,
            random,
            free_root,
            energy,
            energy_moved: energy,
        }
    }

    /// Returns the steps, as [`crate::pace`] counts them, of moves that took longer than others:
    /// long lists were walked over, or lists of near members were made.
    #[inline]
    pub(super) fn steps(&self) -> usize {
        // A list of near members looks at a column of both matrices.
        let column = 2 * FAR as usize * self.pairs.n();
        4 * self.state.walked() + column * self.near.made
    }

    /// Counts steps from 0 again.
    pub(super) fn forget_steps(&mut self) {
        self.state.forget_walks();
        self.near.made = 0;
    }

    /// Must be called after the state was set from outside.
    pub(super) fn refresh(&mut self) {
        self.chain.renew(&self.state);
        self.energy = self.state.energy();
    }

    /// Makes one move, unless latency or energy would rise above their limits. Returns whether it did; the caller may
    /// look at the move, and must then accept it.
    #[inline]
    pub(super) fn step(&mut self, limit: f64, energy_limit: f64) -> bool {
        let bits = self.random.bits();
        let x = if bits & 15 == 0 || self.chain.members.is_empty() {
            self.random.below(self.state.n())
        } else {
            let at = self.random.below(self.chain.members.len());
            self.chain.members[at] as usize
        };
        // Shares of 16, tried out like the rounds' temperatures.
        let changed = match (bits >> 4) & 15 {
            0..=8 => self.relocate(x, bits >> 8, limit),
            9..=12 => self.exchange(x, bits >> 8, limit),
            _ => self.trade(x, bits >> 8, limit),
        };
        if !changed {
            return false;
        }
        if self.state.latency() <= limit {
            self.energy_moved = self.state.energy();
            if self.energy_moved <= energy_limit {
                return true;
            }
        }
        self.state.undo();
        false
    }

    /// Makes the last move permanent.
    #[inline]
    pub(super) fn accept(&mut self) {
        self.state.keep();
        self.chain.renew(&self.state);
        self.energy = self.energy_moved;
    }

    /// Returns the stored energy of the state.
    #[inline]
    pub(super) fn energy(&self) -> f64 {
        self.energy
    }

    /// Two members change places, unless a fixed root is one of them.
    pub(super) fn swap(&mut self, x: usize, y: usize) {
        let root = self.state.root();
        if x != y && (self.free_root || (x != root && y != root)) {
            self.state.exchange(x, y);
        }
    }

    /// Returns a near member; nearer ones are more likely.
    fn near(&mut self, x: usize) -> usize {
        let list = self.near.of(&self.pairs, x);
        let bound = 1 + self.random.below(list.len());
        list[self.random.below(bound)] as usize
    }

    fn relocate(&mut self, x: usize, bits: u64, limit: f64) -> bool {
        let Some(p) = self.state.parent(x) else {
            return false;
        };
        let q = match bits & 7 {
            0..=3 => self.near(x),
            4..=5 => self.random.below(self.state.n()),
            6 => match self.state.parent(p) {
                Some(grandparent) => grandparent,
                None => return false,
            },
            _ => {
                let siblings = self.state.children(p);
                siblings[self.random.below(siblings.len())].rank()
            }
        };
        if q == p || q == x {
            return false;
        }
        let Some(arrival) = self.state.arrival_without(q, x) else {
            return false;
        };
        if arrival + self.state.below_with(q, x, None) > limit {
            return false;
        }
        self.state.relocate(x, q);
        true
    }

    fn exchange(&mut self, x: usize, bits: u64, limit: f64) -> bool {
        let root = self.state.root();
        let x = if self.free_root && bits & 31 == 0 {
            root
        } else {
            x
        };
        let y = match (bits >> 5) & 3 {
            0..=1 => self.near(x),
            2 => self.random.below(self.state.n()),
            _ => match self.state.parent(x) {
                Some(p) => p,
                None => return false,
            },
        };
        if x == y || (!self.free_root && (x == root || y == root)) {
            return false;
        }
        if self.state.children(x).is_empty() && self.state.children(y).is_empty() {
            return self.trade_places(x, y, limit);
        }
        self.state.exchange(x, y);
        true
    }

    fn trade(&mut self, x: usize, bits: u64, limit: f64) -> bool {
        let y = match bits & 1 {
            0 => self.near(x),
            _ => self.random.below(self.state.n()),
        };
        self.trade_places(x, y, limit)
    }

    fn trade_places(&mut self, x: usize, y: usize, limit: f64) -> bool {
        let (Some(p), Some(q)) = (self.state.parent(x), self.state.parent(y)) else {
            return false;
        };
        if p == q {
            return false;
        }
        for (new, old, parent) in [(x, y, q), (y, x, p)] {
            let Some(arrival) = self.state.arrival_without(parent, new) else {
                return false;
            };
            if arrival + self.state.below_with(parent, new, Some(old)) > limit {
                return false;
            }
        }
        self.state.trade(x, y);
        true
    }
}
