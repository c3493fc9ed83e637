//! The most that each holder can collect within each time.

use std::ops::ControlFlow;

use super::grid::Grid;
use crate::exact::ticks::Tick;

/// The sum of all multipliers is about this.
const SUM: f64 = (1 << 20) as f64;
/// Sums are capped at this many times the sum of all. Three capped ones are whole in `f32`.
pub(super) const CAP: f32 = 4.0;

/// Additions that take as long as a split of a proof.
pub(super) const ADDITIONS_PER_WORK: usize = 64;
/// Additions after which the watcher is asked, some tenths of a millisecond.
const TOLD: usize = 1 << 19;

/// Multipliers as whole numbers.
pub(super) struct Multipliers {
    pub(super) each: Vec<f32>,
    /// What a tree has to collect: all but the root's own where that is fixed.
    pub(super) sum: f32,
}

impl Multipliers {
    /// Rounds multipliers, some of which are above nought; a fixed root has none.
    pub(super) fn new(multipliers: &[f64]) -> Self {
        let sum: f64 = multipliers.iter().sum();
        let whole = |multiplier: &f64| (multiplier / sum * SUM).round() as f32;
        let each: Vec<f32> = multipliers.iter().map(whole).collect();
        let sum = each.iter().sum();
        Self { each, sum }
    }
}

/// The table of `G`, see [`super`].
#[derive(Default)]
pub(super) struct PriceTable {
    /// Steps of a row.
    pub(super) length: usize,
    values: Vec<f32>,
    scratch: Vec<f32>,
}

impl PriceTable {
    /// Fills the rows up to `goal` steps, and further, up to the grid's steps, until `root` can
    /// collect all multipliers. Returns the steps after which it can, if they are reached; breaks
    /// where `tick` does.
    pub(super) fn fill(
        &mut self,
        grid: &Grid,
        multipliers: &Multipliers,
        root: Option<usize>,
        goal: usize,
        tick: Tick<'_>,
    ) -> ControlFlow<(), Option<usize>> {
        let n = grid.n();
        self.length = grid.steps + 1;
        self.values.clear();
        self.values.resize(n * self.length, 0.0);
        let mut reached = None;
        let mut additions = 0;
        let mut from = 1;
        while from <= goal || (reached.is_none() && from <= grid.steps) {
            let to = (from + grid.block).min(grid.steps + 1);
            for holder in 0..n {
                self.extend(grid, multipliers, holder, from, to);
                additions += grid.edges[holder].len() * (to - from);
                if additions > TOLD {
                    tick((std::mem::take(&mut additions) / ADDITIONS_PER_WORK) as u64)?;
                }
            }
            reached = reached.or_else(|| {
                // A fixed root has no multiplier of its own, so that nothing is added for it.
                let all =
                    |r: usize, t: usize| multipliers.each[r] + self.row(r)[t] >= multipliers.sum;
                (from..to).find(|&t| match root {
                    Some(root) => all(root, t),
                    None => (0..n).any(|r| all(r, t)),
                })
            });
            from = to;
        }
        tick((additions / ADDITIONS_PER_WORK) as u64)?;
        ControlFlow::Continue(reached)
    }

    /// Returns the most that a holder can collect, by the steps that are left.
    pub(super) fn row(&self, holder: usize) -> &[f32] {
        &self.values[holder * self.length..][..self.length]
    }

    fn extend(
        &mut self,
        grid: &Grid,
        multipliers: &Multipliers,
        holder: usize,
        from: usize,
        to: usize,
    ) {
        let scratch = &mut self.scratch;
        scratch.clear();
        scratch.resize(to - from, 0.0);
        let own = holder * self.length;
        for edge in &grid.edges[holder] {
            let first = from.max(edge.way);
            if first >= to {
                break;
            }
            let row = edge.child * self.length;
            let arm = &self.values[row + first - edge.way..row + to - edge.way];
            let rest = &self.values[own + first - edge.send..own + to - edge.send];
            take_best(
                &mut scratch[first - from..],
                multipliers.each[edge.child],
                arm,
                rest,
            );
        }
        let cap = CAP * multipliers.sum;
        let mut most = self.values[own + from - 1];
        for (value, &found) in self.values[own + from..own + to].iter_mut().zip(&*scratch) {
            most = greater(most, found).min(cap);
            *value = most;
        }
    }

    /// Returns how often each member is collected in the best that `holder` can do within `t`
    /// steps.
    pub(super) fn collected(
        &self,
        grid: &Grid,
        multipliers: &Multipliers,
        holder: usize,
        t: usize,
    ) -> Vec<u32> {
        /// Looks at this many messages, which is enough to tell who is collected too often.
        const MOST: usize = 4096;
        let mut times = vec![0; grid.n()];
        let mut open = vec![(holder, t)];
        let mut seen = 0;
        while let Some((v, t)) = open.pop() {
            let row = self.row(v);
            let value = row[t];
            if value <= 0.0 || seen >= MOST {
                continue;
            }
            seen += 1;
            let t = row.partition_point(|&other| other < value);
            let best = grid.edges[v]
                .iter()
                .take_while(|edge| edge.way <= t)
                .find(|edge| {
                    let arm = self.row(edge.child)[t - edge.way];
                    multipliers.each[edge.child] + arm + row[t - edge.send] >= value
                });
            if let Some(edge) = best {
                times[edge.child] += 1;
                open.push((edge.child, t - edge.way));
                open.push((v, t - edge.send));
            }
        }
        times
    }
}

/// `best = max(best, multiplier + arm + rest)`, for all steps of a block.
pub(super) fn take_best(best: &mut [f32], multiplier: f32, arm: &[f32], rest: &[f32]) {
    for ((best, &arm), &rest) in best.iter_mut().zip(arm).zip(rest) {
        *best = greater(multiplier + arm + rest, *best);
    }
}

/// As one instruction: there is no NaN here.
#[inline]
pub(super) fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}
