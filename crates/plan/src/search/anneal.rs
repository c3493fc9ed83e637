//! Simulated annealing of one tree in rounds, and of several at once.
//!
//! **Rounds.** A round starts somewhere, hot or lukewarm, and cools down. Rounds get longer by a
//! fixed factor, so a search that is cut short anywhere has spent most of its moves in rounds that are
//! about as long as they could have been. They take turns:
//!
//! | round | from | begins at | what for |
//! | --- | --- | --- | --- |
//! | first | the start | cold | the nearest better tree |
//! | 4k | the best | 0.4 % | improve |
//! | 4k + 1 | where the last hot round ended | 30 % | begin afresh |
//! | 4k + 2 | the best with two NUMA nodes in exchanged roles | 1 % | another assignment of nodes |
//! | 4k + 3 | the best | 3 % | leave the neighbourhood |
//!
//! Rounds soon find a good tree, but many seeds stay above the best: good trees lie in valleys that
//! differ in who passes the value on between NUMA nodes, and a round ends in the valley in which it
//! got cold.
//!
//! **Tempering.** Longer searches therefore spend most moves on a few trees at once, each at a temperature
//! that stays (*parallel tempering*: Swendsen and Wang 1986, Geyer 1991). Now and then neighbours
//! exchange their temperatures, by Metropolis's rule: a better tree comes down to where it is refined,
//! a worse one goes up to where it changes. After each round tempering has its turn, and two NUMA
//! nodes exchange their roles in the hottest tree; what either finds is where the other goes on.
//! Rounds alone were 0.26 % above the best known in the mean, with tempering 0.21 % (2 million moves
//! on the public matrices of 32 and 48 members, 12 seeds each of 8 searches, November 2026).
//!
//! A move is accepted when the energy rises by no more than the temperature times a random number
//! with exponential distribution, which is Metropolis's rule with the random number drawn first.

use std::ops::ControlFlow;
use std::rc::Rc;

use super::moves::Mover;
use super::pairs::PairCosts;
use super::progress::{SearchProgress, SearchWatch};
use super::state::TreeState;
use crate::pace::DUE;
#[cfg(test)]
use crate::pace::tests::count;
use crate::random::SplitMix64;
use crate::tree::Tree;

/// Most moves between two calls of the watcher.
const LOOK: u64 = 256;
/// Most steps of long moves between two calls.
const STEPS_MAX: usize = DUE as usize;
/// The temperature falls in this many steps in a round, given as a power of 2.
const STEPS_LOG: u32 = 6;
/// Moves of the first round for each member, and the least number of members that they are counted for.
const FIRST: f64 = 64.0;
const FIRST_MEMBERS: usize = 8;
/// Each round is longer than the one before by this factor.
const GROWTH: f64 = 1.2;
/// Rounds do not grow beyond this number of moves.
const LENGTH_MAX: f64 = 1e15;
/// Coldest temperature of a round, as a share of the latency.
const COLD: f64 = 0.0005;

/// Moves for each member before tempering begins. Shorter searches fare better with rounds alone.
const ROUNDS: u64 = 3000;
/// After a round tempering gets this many times the moves of the round.
const SHARE: u64 = 2;
/// Trees that are tempered, one at each temperature.
const TREES: usize = 5;
/// Temperatures of the tempered trees, as shares of the latency. From 3 to 8 trees and from 0.7 to 3 % at the
/// top make no difference that 8 to 24 seeds show.
const TEMPERATURES: [f64; TREES] = [0.001, 0.0018, 0.0032, 0.0056, 0.01];
/// Moves of a tempered tree between two exchanges of temperatures.
const TURN: u64 = 512;

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
pub(super) struct TreeAnnealer<'a> {
    pairs: Rc<PairCosts<'a>>,
    /// The tree of the rounds, and then those that are tempered, the coldest first.
    movers: Vec<Mover<'a>>,
    /// The index of the tree that moves.
    now: usize,
    /// The index of the tempered tree that moved last.
    place: usize,
    /// The turns of tempered trees that are left until the next round.
    tempering_left: u64,
    /// The least latency that was found by tempering.
    best_of_tempering: f64,
    /// The generator of the choices between turns of tempering.
    random: SplitMix64,
    exponentials: Vec<f64>,
    /// The tree at which the last round ended that left the neighbourhood.
    wanderer: Vec<u32>,
    nodes: Vec<Vec<u32>>,
    best: Vec<u32>,
    best_latency: f64,
    /// Whether the state is better than `best`, which is then saved before the state gets worse.
    ahead: bool,
    lower_bound: f64,
    free_root: bool,
    moves: u64,
    rounds: u64,
    /// Whether this round ends where the next one that leaves the neighbourhood begins.
    roams: bool,
    /// The number of moves of the next round.
    length: f64,
    /// The moves left in this round, those at one temperature, and the factor between temperatures.
    left: u64,
    step: u64,
    factor: f64,
    temperature: f64,
}

impl<'a> TreeAnnealer<'a> {
    pub(super) fn new(
        pairs: &Rc<PairCosts<'a>>,
        numa: &[u32],
        start: &Tree,
        free_root: bool,
        seed: u64,
    ) -> Self {
        let state = TreeState::of_tree(pairs, start);
        let best = state.parents().to_vec();
        let best_latency = state.latency();
        Self {
            pairs: Rc::clone(pairs),
            movers: vec![Mover::new(pairs, state, free_root, SplitMix64::new(seed))],
            now: 0,
            place: 0,
            tempering_left: 0,
            best_of_tempering: f64::INFINITY,
            random: SplitMix64::new(!seed),
            exponentials: exponentials(),
            wanderer: best.clone(),
            nodes: nodes(numa),
            best,
            best_latency,
            ahead: false,
            lower_bound: 0.0,
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

    /// Returns the moves of all runs together.
    pub(super) fn moves(&self) -> u64 {
        self.moves
    }

    /// Returns the best tree so far.
    pub(super) fn tree(&mut self) -> Tree {
        self.save();
        TreeState::of_parents(&self.pairs, &self.best).tree()
    }

    /// Sets the lower bound, at which the search ends.
    pub(super) fn bound(&mut self, lower_bound: f64) {
        self.lower_bound = lower_bound;
    }

    /// Takes a tree that was found elsewhere, if it is better.
    pub(super) fn offer(&mut self, tree: &Tree) {
        let offered = TreeState::of_tree(&self.pairs, tree);
        if offered.latency() >= self.best_latency {
            return;
        }
        self.best_latency = offered.latency();
        self.best.copy_from_slice(offered.parents());
        self.ahead = false;
    }

    /// Whether no better tree is possible.
    pub(super) fn is_done(&self) -> bool {
        let n = self.pairs.n();
        self.best_latency <= self.lower_bound || n == 1 || (n == 2 && !self.free_root)
    }

    /// Goes on for this many moves, also from the middle of a round.
    pub(super) fn run(&mut self, moves: u64, watch: SearchWatch<'_>) -> ControlFlow<()> {
        let end = self.moves.saturating_add(moves);
        while self.moves < end && !self.is_done() {
            if self.left == 0 {
                self.save();
                self.begin();
            }
            let mover = &mut self.movers[self.now];
            if self.moves.is_multiple_of(LOOK) || mover.steps() >= STEPS_MAX {
                #[cfg(test)]
                count(mover.steps() as u64);
                mover.forget_steps();
                watch(&SearchProgress {
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

    /// Begins the next round, or the next turn of tempering.
    fn begin(&mut self) {
        if self.tempering_left > 0 {
            self.begin_turn();
            return;
        }
        self.begin_round();
        if self.moves >= ROUNDS * self.pairs.n() as u64 {
            self.tempering_left = self.left * SHARE / TURN;
        }
    }

    fn begin_round(&mut self) {
        self.now = 0;
        let mover = &mut self.movers[0];
        if self.roams {
            self.wanderer.copy_from_slice(mover.state.parents());
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
        mover.state.set(from);
        if kick {
            kick_nodes(mover, &self.nodes);
        }
        mover.refresh();
        self.step = (self.length as u64) >> STEPS_LOG;
        self.left = self.step << STEPS_LOG;
        self.factor = (0..STEPS_LOG).fold(COLD / hot, |factor, _| factor.sqrt());
        self.temperature = hot * self.best_latency;
        self.length = (self.length * GROWTH).min(LENGTH_MAX);
        self.rounds += 1;
    }

    /// Lets the next tempered tree move.
    fn begin_turn(&mut self) {
        if self.now == 0 {
            self.climb();
        }
        if self.place == TREES {
            self.exchange_temperatures();
            self.place = 0;
        }
        self.place += 1;
        self.now = self.place;
        self.tempering_left -= 1;
        self.step = TURN;
        self.left = TURN;
        self.factor = 1.0;
        self.temperature = TEMPERATURES[self.now - 1] * self.best_latency;
    }

    /// Puts the best tree at the lowest temperature if it is better than those there; the first time,
    /// it fills all places with it. Then two NUMA nodes exchange their roles in the tree at the top.
    fn climb(&mut self) {
        while self.movers.len() <= TREES {
            let state = TreeState::of_parents(&self.pairs, &self.best);
            let random = SplitMix64::new(self.random.bits());
            let mover = Mover::new(&self.pairs, state, self.free_root, random);
            self.movers.push(mover);
            self.best_of_tempering = self.best_latency;
        }
        let top = &mut self.movers[TREES];
        kick_nodes(top, &self.nodes);
        top.refresh();
        if self.best_latency < self.best_of_tempering {
            self.best_of_tempering = self.best_latency;
            self.movers[1].state.set(&self.best);
            self.movers[1].refresh();
        }
    }

    /// Exchanges temperatures of neighbours from hot to cold, so that a good tree can come all the way
    /// down at once.
    fn exchange_temperatures(&mut self) {
        for cold in (1..TREES).rev() {
            let energy = |place: usize| self.movers[place].state.energy();
            let cooled = 1.0 / TEMPERATURES[cold - 1] - 1.0 / TEMPERATURES[cold];
            let rise = (energy(cold + 1) - energy(cold)) * cooled;
            let at = self.random.below(EXPONENTIALS);
            if rise <= self.best_latency * self.exponentials[at] {
                self.movers.swap(cold, cold + 1);
            }
        }
    }

    #[inline]
    fn advance(&mut self) {
        let mover = &mut self.movers[self.now];
        let at = mover.random.below(EXPONENTIALS);
        let latency = mover.state.latency();
        let rise = self.temperature * self.exponentials[at];
        let energy_limit = mover.energy() + rise;
        if !mover.step(latency + rise, energy_limit) {
            return;
        }
        let now = mover.state.latency();
        if self.ahead && now > latency {
            mover.state.parents_before(&mut self.best);
            self.ahead = false;
        }
        if now < self.best_latency {
            self.best_latency = now;
            if self.now > 0 {
                self.best_of_tempering = now;
            }
            self.ahead = true;
        }
        mover.accept();
    }

    /// Saves the state if it is the best.
    fn save(&mut self) {
        if self.ahead {
            self.best
                .copy_from_slice(self.movers[self.now].state.parents());
            self.ahead = false;
        }
    }
}

/// Returns the members of each NUMA node.
fn nodes(numa: &[u32]) -> Vec<Vec<u32>> {
    let mut by_node: Vec<(u32, u32)> = numa.iter().copied().zip(0..).collect();
    by_node.sort_unstable();
    by_node
        .chunk_by(|a, b| a.0 == b.0)
        .map(|node| node.iter().map(|&(_, v)| v).collect())
        .collect()
}

/// Exchanges the roles of two NUMA nodes: their members change places one by one.
fn kick_nodes(mover: &mut Mover<'_>, nodes: &[Vec<u32>]) {
    let (a, b) = (
        mover.random.below(nodes.len()),
        mover.random.below(nodes.len()),
    );
    if a == b {
        return;
    }
    let turn = mover.random.below(nodes[b].len());
    for (k, &x) in nodes[a].iter().enumerate() {
        let y = nodes[b][(k + turn) % nodes[b].len()];
        mover.swap(x as usize, y as usize);
    }
    mover.state.keep();
}
