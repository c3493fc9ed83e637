//! Simulated annealing in rounds.
//!
//! A round starts somewhere, hot or lukewarm, and cools down. Rounds get longer by a fixed factor, so
//! a search that is cut short anywhere has spent most of its moves in rounds that are about as long
//! as they could have been. They take turns:
//!
//! | round | from | begins at | what for |
//! | --- | --- | --- | --- |
//! | first | the start | cold | the nearest better tree |
//! | 4k | the best | 0.4 % | improve |
//! | 4k + 1 | where the last hot round ended | 30 % | begin afresh |
//! | 4k + 2 | the best with two NUMA nodes in exchanged roles | 1 % | another assignment of nodes |
//! | 4k + 3 | the best | 3 % | leave the neighbourhood |
//!
//! A move is accepted when the energy rises by no more than the temperature times a random number
//! with exponential distribution, which is Metropolis's rule with the random number drawn first.

use std::ops::ControlFlow;

use super::moves::Mover;
use super::random::Random;
use super::state::{Pairs, State};
use super::{Progress, Watch};
use crate::tree::Tree;

/// Moves between two looks at the watcher.
const LOOK: u64 = 256;
/// Steps of the temperature in a round: 2 to the power of this.
const STEPS_LOG: u32 = 6;
/// Moves of the first round for each member, and at least for how many members.
const FIRST: f64 = 64.0;
const FIRST_MEMBERS: usize = 8;
/// How much longer each round is than the one before.
const GROWTH: f64 = 1.2;
/// Rounds stop growing here.
const LENGTH_MAX: f64 = 1e15;
/// Coldest temperature, as a share of the latency.
const COLD: f64 = 0.0005;

/// `-ln(u)` for evenly spread u, as sums of fractions: the means of sorted exponential numbers.
/// Unlike a logarithm it is the same on every platform.
fn exponentials() -> Vec<f64> {
    let mut table = Vec::with_capacity(EXPONENTIALS);
    let mut sum = 0.0;
    for k in (1..=EXPONENTIALS).rev() {
        sum += 1.0 / k as f64;
        table.push(sum);
    }
    table
}

/// A power of two.
const EXPONENTIALS: usize = 1024;

/// A search that can be continued.
pub(super) struct Annealer<'a> {
    mover: Mover<'a>,
    exponentials: Vec<f64>,
    /// Where the last round that explored ended.
    wanderer: Vec<u32>,
    nodes: Vec<Vec<u32>>,
    best: Vec<u32>,
    best_latency: f64,
    /// The state is better than `best`, which is saved before the state gets worse.
    ahead: bool,
    lower_bound: f64,
    free_root: bool,
    moves: u64,
    rounds: u64,
    /// Whether this round ends where the next one that leaves the neighbourhood begins.
    roams: bool,
    /// Moves of the next round.
    length: f64,
    /// Moves left in this round, moves at one temperature, and what then becomes of it.
    left: u64,
    step: u64,
    factor: f64,
    temperature: f64,
}

impl<'a> Annealer<'a> {
    pub(super) fn new(
        pairs: &'a Pairs,
        numa: &[u32],
        start: &Tree,
        free_root: bool,
        lower_bound: f64,
        seed: u64,
    ) -> Self {
        let state = State::of_tree(pairs, start);
        let best = state.parents().to_vec();
        let best_latency = state.latency();
        Self {
            mover: Mover::new(pairs, state, free_root, Random::new(seed)),
            exponentials: exponentials(),
            wanderer: best.clone(),
            nodes: nodes(numa),
            best,
            best_latency,
            ahead: false,
            lower_bound,
            free_root,
            moves: 0,
            rounds: 0,
            roams: false,
            length: FIRST * pairs.n().max(FIRST_MEMBERS) as f64,
            left: 0,
            step: 1,
            factor: 1.0,
            temperature: 0.0,
        }
    }

    pub(super) fn latency(&self) -> f64 {
        self.best_latency
    }

    /// The best tree so far.
    pub(super) fn tree(mut self) -> Tree {
        self.save();
        self.mover.state.set(&self.best);
        self.mover.state.tree()
    }

    /// Whether there is nothing left to win.
    pub(super) fn is_done(&self) -> bool {
        let n = self.mover.state.n();
        self.best_latency <= self.lower_bound || n == 1 || (n == 2 && !self.free_root)
    }

    /// Goes on for so many moves, also in the middle of a round.
    pub(super) fn run(&mut self, moves: u64, watch: Watch<'_>) -> ControlFlow<()> {
        let end = self.moves.saturating_add(moves);
        while self.moves < end && !self.is_done() {
            if self.left == 0 {
                self.begin();
            }
            if self.moves.is_multiple_of(LOOK) {
                watch(&Progress {
                    latency: self.best_latency,
                    moves: self.moves,
                    rounds: self.rounds,
                })?;
            }
            if self.left.is_multiple_of(self.step) {
                self.temperature *= self.factor;
            }
            self.left -= 1;
            self.moves += 1;
            self.advance();
        }
        ControlFlow::Continue(())
    }

    /// Begins the next round.
    fn begin(&mut self) {
        self.save();
        if self.roams {
            self.wanderer.copy_from_slice(self.mover.state.parents());
        }
        let (from_best, kick, hot) = match (self.rounds, self.rounds % 4) {
            (0, _) => (true, false, COLD),
            (_, 0) => (true, false, 0.004),
            (_, 1) => (false, false, 0.3),
            (_, 2) => (true, true, 0.01),
            _ => (true, false, 0.03),
        };
        self.roams = hot > 0.02;
        let from = if from_best {
            &self.best
        } else {
            &self.wanderer
        };
        self.mover.state.set(from);
        if kick {
            self.kick();
        }
        self.mover.refresh();
        self.step = (self.length as u64) >> STEPS_LOG;
        self.left = self.step << STEPS_LOG;
        self.factor = (0..STEPS_LOG).fold(COLD / hot, |factor, _| factor.sqrt());
        self.temperature = hot * self.best_latency;
        self.length = (self.length * GROWTH).min(LENGTH_MAX);
        self.rounds += 1;
    }

    /// Two NUMA nodes change roles: their members change places one by one.
    fn kick(&mut self) {
        let random = &mut self.mover.random;
        let (a, b) = (
            random.below(self.nodes.len()),
            random.below(self.nodes.len()),
        );
        if a == b {
            return;
        }
        let turn = random.below(self.nodes[b].len());
        for (k, &x) in self.nodes[a].iter().enumerate() {
            let y = self.nodes[b][(k + turn) % self.nodes[b].len()];
            self.mover.swap(x as usize, y as usize);
        }
        self.mover.state.keep();
    }

    #[inline]
    fn advance(&mut self) {
        let at = self.mover.random.below(EXPONENTIALS);
        let latency = self.mover.state.latency();
        let rise = self.temperature * self.exponentials[at];
        let energy_limit = self.mover.state.energy() + rise;
        if !self.mover.step(latency + rise, energy_limit) {
            return;
        }
        let now = self.mover.state.latency();
        if self.ahead && now > latency {
            self.mover.state.parents_before(&mut self.best);
            self.ahead = false;
        }
        if now < self.best_latency {
            self.best_latency = now;
            self.ahead = true;
        }
        self.mover.accept();
    }

    /// Saves the state if it is the best.
    fn save(&mut self) {
        if self.ahead {
            self.best.copy_from_slice(self.mover.state.parents());
            self.ahead = false;
        }
    }
}

/// The members of each NUMA node.
fn nodes(numa: &[u32]) -> Vec<Vec<u32>> {
    let mut by_node: Vec<(u32, u32)> = numa.iter().copied().zip(0..).collect();
    by_node.sort_unstable();
    by_node
        .chunk_by(|a, b| a.0 == b.0)
        .map(|node| node.iter().map(|&(_, v)| v).collect())
        .collect()
}
