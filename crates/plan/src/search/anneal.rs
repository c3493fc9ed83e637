//! Simulated annealing in rounds.
//!
//! A round starts from the incumbent or from one of the starts, hot or lukewarm, and cools down.
//! Rounds get longer by a fixed factor, so a search that is cut short anywhere has spent most of
//! its moves in rounds that are about as long as they could have been.

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
    starts: Vec<Vec<u32>>,
    best: Vec<u32>,
    best_latency: f64,
    /// The state is better than `best`, which is saved before the state gets worse.
    ahead: bool,
    lower_bound: f64,
    moves: u64,
    round: u64,
}

impl<'a> Annealer<'a> {
    pub(super) fn new(
        pairs: &'a Pairs,
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
            starts: vec![best.clone()],
            best,
            best_latency,
            ahead: false,
            lower_bound,
            moves: 0,
            round: 0,
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
        self.best_latency <= self.lower_bound || n == 1
    }

    /// Goes on for so many moves.
    pub(super) fn run(&mut self, moves: u64, watch: Watch<'_>) -> ControlFlow<()> {
        let end = self.moves.saturating_add(moves);
        while self.moves < end && !self.is_done() {
            let length = self.length();
            let hot = match self.round {
                0 => 0.0005,
                r if r % 4 == 3 => 0.03,
                r if r % 2 == 1 => 0.01,
                _ => 0.004,
            };
            self.save();
            self.mover.state.set(&self.best);
            self.mover.refresh();
            self.cool(hot, length.min(end - self.moves), length, watch)?;
            self.round += 1;
        }
        ControlFlow::Continue(())
    }

    fn length(&self) -> u64 {
        let mut length = 20.0 * 64.0;
        for _ in 0..self.round.min(100) {
            length *= 1.4;
        }
        length as u64
    }

    /// One round, or the first `moves` of it.
    fn cool(&mut self, hot: f64, moves: u64, length: u64, watch: Watch<'_>) -> ControlFlow<()> {
        let factor = (0..STEPS_LOG).fold(COLD / hot, |f, _| f.sqrt());
        let step = (length >> STEPS_LOG).max(1);
        let mut temperature = hot * self.best_latency;
        for done in 0..moves {
            if self.moves % LOOK == 0 {
                let progress = Progress {
                    latency: self.best_latency,
                    moves: self.moves,
                    round: self.round,
                };
                watch(&progress)?;
            }
            if done % step == step - 1 {
                temperature *= factor;
            }
            self.moves += 1;
            self.advance(temperature);
            if self.best_latency <= self.lower_bound {
                break;
            }
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn advance(&mut self, temperature: f64) {
        let at = self.mover.random.below(EXPONENTIALS);
        let latency = self.mover.state.latency();
        let limit = latency + temperature * self.exponentials[at];
        if !self.mover.step(limit) {
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
