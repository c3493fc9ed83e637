//! The ascent: a few rounds of moves that improve the multipliers.

use std::ops::ControlFlow;

use super::grid::Grid;
use super::table::{ADDITIONS_PER_WORK, Multipliers, PriceTable};
use crate::exact::ticks::Tick;
use crate::exact::ticks::Ticks;

/// For each round the steps of time, first coarse ones, and the number of moves of the multipliers.
const ROUNDS: [(i32, u32); 3] = [(512, 48), (2048, 32), (8192, 8)];
/// A move aims at multipliers of which all but this share can be collected.
const AIM: f64 = 0.005;
/// Length of a move, as a share of the one that would reach the aim if all were linear.
const STRIDE: f64 = 0.7;
/// The share of the last move's direction that is kept.
const MOMENTUM: f64 = 0.5;
/// How near to the bound so far the last moves of a round look.
const NEAR: f64 = 0.05;

/// Returns the approximate work of the first round and of all rounds.
pub(in crate::exact) fn work(n: usize) -> (u64, u64) {
    let of = |&(steps, moves): &(i32, u32)| {
        n as u64 * n as u64 * steps as u64 * u64::from(moves) / ADDITIONS_PER_WORK as u64
    };
    (of(&ROUNDS[0]), ROUNDS.iter().map(of).sum())
}

/// The multipliers for trees with one root, or with any root, while they are being improved.
pub(in crate::exact) struct Ascent {
    root: Option<usize>,
    multipliers: Vec<f64>,
    direction: Vec<f64>,
    best: Vec<f64>,
    /// The number of ticks that no tree beats.
    pub(in crate::exact) lower: i32,
    round: usize,
    table: PriceTable,
}

impl Ascent {
    pub(in crate::exact) fn new(n: usize, root: Option<usize>) -> Self {
        let mut multipliers = vec![1.0; n];
        if let Some(root) = root {
            multipliers[root] = 0.0;
        }
        Self {
            root,
            best: multipliers.clone(),
            multipliers,
            direction: vec![0.0; n],
            lower: 0,
            round: 0,
            table: PriceTable::default(),
        }
    }

    /// Whether there is no finer round.
    pub(in crate::exact) fn is_finished(&self) -> bool {
        self.round >= ROUNDS.len()
    }

    /// Runs one round of moves for trees faster than `latency`; `tick` gets the work and may end the
    /// round.
    pub(in crate::exact) fn round(
        &mut self,
        ticks: &Ticks,
        latency: i32,
        tick: Tick<'_>,
    ) -> ControlFlow<()> {
        let Some(&(steps, moves)) = ROUNDS.get(self.round) else {
            return ControlFlow::Continue(());
        };
        self.round += 1;
        let Some(grid) = Grid::new(ticks, self.root, latency - 1, steps) else {
            self.round = ROUNDS.len();
            return ControlFlow::Continue(());
        };
        self.multipliers.clone_from(&self.best);
        self.direction.fill(0.0);
        let mut known = 0;
        for at in 0..moves {
            let share = NEAR.powf(f64::from(at) / f64::from(moves));
            let goal = known + (share * (grid.steps - known) as f64).ceil() as usize;
            let multipliers = Multipliers::new(&self.multipliers);
            let reached = self
                .table
                .fill(&grid, &multipliers, self.root, goal, tick)?;
            let Some(reached) = reached else {
                self.best.clone_from(&self.multipliers);
                self.lower = latency;
                return ControlFlow::Continue(());
            };
            if reached > known {
                known = reached;
                self.best.clone_from(&self.multipliers);
                self.lower = self.lower.max(reached as i32 * grid.step);
            }
            if self.step(&grid, &multipliers, goal.max(reached)).is_break() {
                break;
            }
        }
        ControlFlow::Continue(())
    }

    /// Lowers the multipliers of members that were collected more than once, and raises those of
    /// members that were not collected. Breaks where there are no such members.
    fn step(&mut self, grid: &Grid, multipliers: &Multipliers, t: usize) -> ControlFlow<()> {
        // A fixed root has no multiplier.
        let value = |r: usize| multipliers.each[r] + self.table.row(r)[t];
        let root = self.root.unwrap_or_else(|| {
            let roots = 0..grid.n();
            roots
                .max_by(|&a, &b| value(a).total_cmp(&value(b)))
                .unwrap_or(0)
        });
        let mut times = self.table.collected(grid, multipliers, root, t);
        times[root] += u32::from(self.root.is_none());
        let over = f64::from(value(root) / multipliers.sum) - (1.0 - AIM);
        let mut length = 0.0;
        for (v, (direction, times)) in self.direction.iter_mut().zip(times).enumerate() {
            if Some(v) == self.root {
                continue;
            }
            let excess = f64::from(times) - 1.0;
            *direction = MOMENTUM * *direction + (1.0 - MOMENTUM) * excess;
            length += *direction * *direction;
        }
        if length == 0.0 {
            return ControlFlow::Break(());
        }
        let sum: f64 = self.multipliers.iter().sum();
        let stride = STRIDE * over * sum / length;
        for (multiplier, direction) in self.multipliers.iter_mut().zip(&self.direction) {
            *multiplier = (*multiplier - stride * direction).max(0.0);
        }
        let left: f64 = self.multipliers.iter().sum();
        if left <= 0.0 {
            return ControlFlow::Break(());
        }
        let scale = self.multipliers.len() as f64 / left;
        self.multipliers
            .iter_mut()
            .for_each(|multiplier| *multiplier *= scale);
        ControlFlow::Continue(())
    }

    /// Returns the best multipliers so far, once there are any.
    pub(super) fn best(&self) -> Option<Multipliers> {
        (self.round > 0).then(|| Multipliers::new(&self.best))
    }
}
