//! Costs as whole numbers of ticks, so that sums are exact and small.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use crate::tree::Tree;

/// The cost of a message that does not exist or that takes too long. A sum of three stays below
/// `i32::MAX`.
pub(super) const NEVER: i32 = 1 << 29;
/// Most ticks of the latency to be beaten.
const TICKS_MAX: f64 = (1_u32 << 28) as f64;

/// A cost model in ticks.
pub(super) struct Ticks {
    n: usize,
    send: Vec<i32>,
    receive: Vec<i32>,
    /// Length of a tick, in the model's unit.
    pub(super) tick: f64,
    /// Whether all costs are whole ticks.
    pub(super) are_exact: bool,
}

impl Ticks {
    /// Chooses ticks in which the costs are whole, where some decimal fraction of the unit allows
    /// that, and rounds costs down otherwise. A message that takes longer than `upper` gets
    /// [`NEVER`]: no tree of that latency can have it.
    pub(super) fn new(costs: &CostModel, upper: f64) -> Self {
        let n = costs.n();
        let scale = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]
            .into_iter()
            .find(|&scale| upper * scale <= TICKS_MAX && is_whole(costs, scale, upper));
        let in_ticks: Box<dyn Fn(f64) -> i32> = match scale {
            Some(scale) => Box::new(move |cost| (cost * scale).round() as i32),
            None => Box::new(move |cost| (cost / upper * TICKS_MAX) as i32),
        };
        let all = |cost: &dyn Fn(usize, usize) -> f64| -> Vec<i32> {
            (0..n * n)
                .map(|at| match cost(at / n, at % n) {
                    cost if at / n == at % n || cost > upper => NEVER,
                    cost => in_ticks(cost),
                })
                .collect()
        };
        Self {
            n,
            send: all(&|i, j| costs.send(i, j)),
            receive: all(&|i, j| costs.receive(i, j)),
            are_exact: scale.is_some(),
            tick: scale.map_or(upper / TICKS_MAX, |scale| 1.0 / scale),
        }
    }

    /// Converts a bound in the model's unit into ticks that no tree beats.
    pub(super) fn at_least(&self, bound: f64) -> i32 {
        // The ticks that rounding down takes from the messages on the longest way.
        let lost = if self.are_exact { 0 } else { 2 * self.n };
        ((bound * (1.0 - 1e-9) / self.tick) as i32 - lost as i32).max(0)
    }

    pub(super) fn n(&self) -> usize {
        self.n
    }

    pub(super) fn send(&self, i: usize, j: usize) -> i32 {
        self.send[i * self.n + j]
    }

    pub(super) fn receive(&self, i: usize, j: usize) -> i32 {
        self.receive[i * self.n + j]
    }

    /// The latency of a broadcast over `tree`.
    pub(super) fn latency(&self, tree: &Tree) -> i32 {
        let mut avail = vec![0_i32; self.n];
        for &v in tree.order() {
            let mut clock = avail[v];
            for &c in tree.children(v) {
                clock = clock.saturating_add(self.send(v, c));
                avail[c] = clock.saturating_add(self.receive(v, c));
            }
        }
        avail.into_iter().max().unwrap_or(0).min(NEVER)
    }
}

/// Whether every cost that matters is a whole multiple of `1 / scale`.
fn is_whole(costs: &CostModel, scale: f64, upper: f64) -> bool {
    let rows = costs
        .send_matrix()
        .rows()
        .chain(costs.receive_matrix().rows());
    rows.flatten()
        .filter(|&&cost| cost <= upper)
        .all(|&cost| (cost * scale).round() / scale == cost)
}

/// A function that is called with the work done since the last call; it breaks to stop the proof.
pub(super) type Tick<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;
