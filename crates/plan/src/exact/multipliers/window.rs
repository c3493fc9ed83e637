//! Limits that multipliers set to each part of a tree: how much time the part needs, and how much it can
//! have.
//!
//! A part of a tree collects at most what its holder can collect in the time that is left, `G`, and at
//! least what the rest of the tree cannot: `O(v, t)` is the most that is collected outside of the part
//! that v begins with t left. Both limits are tight where the multipliers' bound is.

use std::ops::ControlFlow;

use super::ascent::Ascent;
use super::grid::Grid;
use super::table::{CAP, Multipliers, PriceTable, greater, take_best};
use crate::exact::ticks::Tick;
use crate::exact::ticks::Ticks;

/// Steps that the limit is divided into.
const STEPS: i32 = 2048;

/// The windows of a partition's groups.
pub(in crate::exact) struct Windows {
    /// The window of each group; empty where nothing is known.
    groups: Vec<Window>,
    limit: i32,
    /// Ticks of a step.
    step: i32,
    sum: f32,
}

/// The tables of one group: for each time the best of its members.
struct Window {
    /// `G`
    within: Vec<f32>,
    /// `O`
    outside: Vec<f32>,
    /// For each number of members the least and the most that so many have as multipliers.
    multipliers: Vec<(f32, f32)>,
}

/// The tables of single members.
pub(in crate::exact) struct Tables {
    multipliers: Multipliers,
    within: PriceTable,
    outside: Vec<f32>,
    limit: i32,
    /// Ticks of a step.
    step: i32,
}

impl Tables {
    /// Makes the tables for trees of at most `limit` ticks; `None` where multipliers say nothing. Breaks
    /// where `tick` does.
    pub(in crate::exact) fn new(
        ticks: &Ticks,
        ascent: &Ascent,
        root: Option<usize>,
        limit: i32,
        tick: Tick<'_>,
    ) -> ControlFlow<(), Option<Self>> {
        let Some(multipliers) = ascent.best() else {
            return ControlFlow::Continue(None);
        };
        let Some(grid) = Grid::new(ticks, root, limit, STEPS) else {
            return ControlFlow::Continue(None);
        };
        let mut within = PriceTable::default();
        // The table of `O` takes twice the work of the table of `G`, so that both take three times as
        // much.
        let tick = &mut |work| tick(3 * work);
        let _ = within.fill(&grid, &multipliers, root, grid.steps, tick)?;
        ControlFlow::Continue(Some(Self {
            outside: outside(&grid, &multipliers, &within, root),
            multipliers,
            within,
            limit,
            step: grid.step,
        }))
    }

    /// Returns the windows of groups whose members are treated as equal. Each group comes with the
    /// number of its members that others can inform.
    pub(in crate::exact) fn windows<'a>(
        &self,
        groups: impl Iterator<Item = (&'a [usize], u8)>,
    ) -> Windows {
        let outside = |v: usize| &self.outside[v * self.within.length..][..self.within.length];
        let window = |(members, cap): (&[usize], u8)| {
            let mut multipliers: Vec<f32> =
                members.iter().map(|&v| self.multipliers.each[v]).collect();
            multipliers.sort_by(f32::total_cmp);
            let mut sums = vec![(0.0, 0.0)];
            for (least, most) in multipliers
                .iter()
                .zip(multipliers.iter().rev())
                .take(cap as usize)
            {
                let (before, above) = sums[sums.len() - 1];
                sums.push((before + least, above + most));
            }
            Window {
                within: best(members.iter().map(|&v| self.within.row(v))),
                outside: best(members.iter().map(|&v| outside(v))),
                multipliers: sums,
            }
        };
        Windows {
            groups: groups.map(window).collect(),
            limit: self.limit,
            step: self.step,
            sum: self.multipliers.sum,
        }
    }
}

/// The greatest of each column.
fn best<'a>(rows: impl Iterator<Item = &'a [f32]>) -> Vec<f32> {
    let mut rows = rows.map(<[f32]>::to_vec);
    let mut best = rows.next().unwrap_or_default();
    for row in rows {
        for (best, value) in best.iter_mut().zip(row) {
            *best = greater(value, *best);
        }
    }
    best
}

impl Windows {
    /// Returns windows that exclude nothing.
    pub(in crate::exact) fn open() -> Self {
        Self {
            groups: Vec::new(),
            limit: 0,
            step: 1,
            sum: 0.0,
        }
    }

    /// Returns the least and the most that so many members of a group have as multipliers.
    pub(in crate::exact) fn multipliers(&self, group: usize, count: u8) -> (f32, f32) {
        let window = self.groups.get(group);
        window.map_or((0.0, 0.0), |window| window.multipliers[count as usize])
    }

    /// Returns the ticks that a holder of this group needs at least to collect these multipliers, and
    /// those that it can have at most, of `budget`, in a tree within the limit. `None` when it can have
    /// less than it needs.
    pub(in crate::exact) fn span(
        &self,
        holder: usize,
        multipliers: (f32, f32),
        budget: i32,
    ) -> Option<(i32, i32)> {
        let Some(Window {
            within, outside, ..
        }) = self.groups.get(holder)
        else {
            return Some((0, budget));
        };
        let (least, most) = multipliers;
        let rest = self.sum - most;
        let steps = (budget / self.step) as usize;
        // This look is mostly enough: even with all its budget the holder collects too little.
        if within[steps] < least {
            return None;
        }
        let needed = within[..steps].partition_point(|&value| value < least);
        if outside[needed] < rest {
            return None;
        }
        // The row falls: the last step with which all the rest can be collected.
        let left = needed + outside[needed..].partition_point(|&value| value >= rest) - 1;
        let late = (outside.len() - 1 - left) as i32 * self.step;
        let span = (needed as i32 * self.step, budget.min(self.limit - late));
        (span.0 <= span.1).then_some(span)
    }
}

/// Returns the table of `O`: for each holder and time the most that is collected outside of what the
/// holder does from then on.
fn outside(
    grid: &Grid,
    multipliers: &Multipliers,
    within: &PriceTable,
    root: Option<usize>,
) -> Vec<f32> {
    let (n, length, steps) = (grid.n(), within.length, grid.steps);
    let mut values = vec![f32::NEG_INFINITY; n * length];
    match root {
        Some(root) => values[root * length + steps] = 0.0,
        None => (0..n).for_each(|r| values[r * length + steps] = multipliers.each[r]),
    }
    // The edges by child, so that a child finds the holders that may inform it.
    let mut informers: Vec<Vec<(usize, usize, usize)>> = (0..n).map(|_| Vec::new()).collect();
    for (holder, edges) in grid.edges.iter().enumerate() {
        for edge in edges {
            informers[edge.child].push((holder, edge.send, edge.way));
        }
    }
    let cap = CAP * multipliers.sum;
    let mut scratch = Vec::new();
    let mut to = steps;
    while to > 0 {
        let from = to.saturating_sub(grid.block);
        for (v, informers) in informers.iter().enumerate() {
            scratch.clear();
            scratch.resize(to - from, f32::NEG_INFINITY);
            let own = v * length;
            // v has sent to a child, which does its part.
            for edge in &grid.edges[v] {
                let first = from.max(edge.way - edge.send);
                let end = to.min(length - edge.send);
                if first >= end {
                    continue;
                }
                let before = &values[own + first + edge.send..own + end + edge.send];
                let lag = edge.way - edge.send;
                let arm = &within.row(edge.child)[first - lag..end - lag];
                let multiplier = multipliers.each[edge.child];
                take_best(
                    &mut scratch[first - from..end - from],
                    multiplier,
                    before,
                    arm,
                );
            }
            // v was informed by a holder, which goes on with others.
            for &(holder, send, way) in informers {
                let end = to.min(length - way);
                if from >= end {
                    continue;
                }
                let row = holder * length;
                let before = &values[row + from + way..row + end + way];
                let lag = way - send;
                let rest = &within.row(holder)[from + lag..end + lag];
                take_best(
                    &mut scratch[..end - from],
                    multipliers.each[v],
                    before,
                    rest,
                );
            }
            let mut most = values[own + to];
            for t in (from..to).rev() {
                most = greater(most, scratch[t - from]).min(cap);
                values[own + t] = most;
            }
        }
        to = from;
    }
    values
}
