//! Informed members multiply no faster than the prices of nested levels allow.
//!
//! Split the members into groups, and those into smaller ones: packages into NUMA nodes, say. A
//! *level-l island* of a tree is a maximal part that only uses messages inside of level-l groups;
//! it has at most as many members as the largest such group. Let a message of each level keep its
//! sender busy as long as the least send found there, and arrive after the least sum of send and
//! receive. Let `H(t, k)` be the most members, the holder included, that one holder can inform
//! within time t when its level-l island may grow by `k_l` more members, for each level l:
//!
//! ```text
//! H(t, k) = max of  1
//!                   H(t − s, k) + H(t − s − r, m − 1)          across the outermost groups
//!                   H(t − s', a) + H(t − s' − r', b)           inside of a level-l group, where
//!                       a_i = k_i, b_i = m_i − 1 for i inside of l: a new island there
//!                       a_i + b_i = k_i − 1      for the others: their room is shared out
//! ```
//!
//! No tree over n members is faster than the least t with `H(t, k_root) ≥ n`: cut its own islands
//! along the recursion. Times are whole multiples of a time step, costs rounded down, which can only
//! make the bound lower. With one level this is the count of [`super::islands`].

pub(crate) mod table;
mod time_step;

use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::groups::{RefinementChain, chains};
use super::lower_bound;
use crate::operation::Operation;
use crate::pace::{self, Pace};
use crate::smelt;
use table::{CountInput, CountTable, GROUPINGS, TimeSteps};
use time_step::down;

/// A table counted to its end, and what it proves.
pub(crate) struct Counted {
    pub(crate) chain: RefinementChain,
    pub(crate) table: CountTable,
    /// The least time that is not ruled out, in time steps.
    pub(crate) time: usize,
    /// Whether the count reached n within its work; otherwise only `time` and `bound` are of use.
    pub(crate) whole: bool,
    /// `time` in the model's unit, which is a lower bound on the latency.
    pub(crate) bound: f64,
}

/// Most time steps that a tree's latency is divided into.
const TIME_STEPS_MAX: f64 = 4096.0;
/// Fewer time steps round too much away to be worth the work.
const TIME_STEPS_MIN: f64 = 48.0;
/// Largest team: counts are 16-bit numbers, and two of them are added.
const MEMBERS_MAX: usize = 16_000;

/// Returns a latency that no broadcast tree with this root beats; without a root, none with any root.
/// Where near and far come in several levels, the bound is tighter than [`lower_bound`] and takes
/// longer.
///
/// At most `work` additions are made, see the cost below, so that the result depends on the arguments
/// alone. A count that is cut short still gives a bound.
///
/// # Panics
///
/// When the root is outside of the team.
///
/// # Cost
///
/// O(n²), and at most `work` additions. Whole counts of three levels take below 1, 10 and 150 ms of
/// CPU time at 64, 256 and 1,024 members (two-core KVM guest, AMD EPYC at 2.6 GHz, November
/// 2026, `cargo run --release -p corecast-plan --example large`); a `work` of 10 billion is enough
/// for them.
///
/// # Examples
///
/// ```
/// use corecast_plan::{Operation, bound};
///
/// let machine = corecast_model::synthetic(
///     "package:2 numa:4 core:8 send=60,120,200 receive=220,450,750",
/// )
/// .unwrap();
/// let quick = bound::lower_bound(machine.costs(), Operation::Broadcast, None);
/// assert!(quick < 1750.0);
/// assert_eq!(bound::levels(machine.costs(), None, 100_000_000), 1750.0);
/// ```
#[must_use]
pub fn levels(costs: &CostModel, root: Option<usize>, work: u64) -> f64 {
    let quick = lower_bound(costs, Operation::Broadcast, root);
    let each = pace::unwatched(|pace| {
        let all = chains(costs, pace)?;
        let share = work / all.len().max(1) as u64;
        let mut best = 0.0_f64;
        for chain in all {
            let counted = count(costs, chain, root, share, pace)?;
            best = best.max(counted.map_or(0.0, |counted| counted.bound));
        }
        ControlFlow::Continue(best)
    });
    quick.max(each)
}

/// Counts along a refinement chain. Returns `None` where a level's sends are free or too cheap to be
/// counted, and for teams beyond the table. Breaks where a watcher ends the search.
pub(crate) fn count(
    costs: &CostModel,
    chain: RefinementChain,
    root: Option<usize>,
    work: u64,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Option<Counted>> {
    let n = costs.n();
    if !(2..=MEMBERS_MAX).contains(&n) || chain.group.is_empty() {
        return ControlFlow::Continue(None);
    }
    let upper = upper(costs, root.unwrap_or(0), pace)?;
    let prices: Vec<f64> = chain.price.iter().flat_map(|p| [p.send, p.total]).collect();
    let time_steps = time_steps(&chain, work).min(TIME_STEPS_MAX);
    if upper <= 0.0 || !upper.is_finite() || time_steps < TIME_STEPS_MIN {
        return ControlFlow::Continue(None);
    }
    let time_step = time_step::length(&prices, upper / time_steps);
    let Some(frame) = frame(&chain, n, root, time_step) else {
        return ControlFlow::Continue(None);
    };
    let limit = (upper / time_step) as usize + 2;
    let (table, time, whole) = CountTable::until_enough(frame, limit, work, pace)?;
    ControlFlow::Continue(Some(Counted {
        chain,
        table,
        time,
        whole,
        bound: time as f64 * time_step,
    }))
}

/// Returns the latency of some tree.
fn upper(costs: &CostModel, root: usize, pace: &mut Pace<'_>) -> ControlFlow<(), f64> {
    let base = smelt::base_within(costs, root, pace)?;
    ControlFlow::Continue(crate::cost::latency(costs, &base, Operation::Broadcast))
}

/// Returns the number of time steps whose rows the work is enough for. Only the rows of the last
/// doublings are whole.
fn time_steps(chain: &RefinementChain, work: u64) -> f64 {
    let mut row = 0.0;
    let sizes = chain.largest.iter().map(|&m| m as f64);
    let cells: f64 = sizes.clone().product();
    for from in 0..chain.largest.len() {
        let shared: f64 = sizes.clone().skip(from).map(|m| m / 2.0).product();
        row += cells * shared;
    }
    work as f64 / row * 3.0
}

fn frame(
    chain: &RefinementChain,
    n: usize,
    root: Option<usize>,
    time_step: f64,
) -> Option<CountInput> {
    let depth = chain.group.len();
    let pad = GROUPINGS - depth;
    let mut frame = CountInput {
        size: [1; GROUPINGS],
        price: [TimeSteps::NEVER; GROUPINGS + 1],
        enough: i16::try_from(n).ok()?,
        first: [0; GROUPINGS],
    };
    for level in 0..=depth {
        let price = chain.price[level];
        if price.send.is_finite() {
            frame.price[pad + level] = TimeSteps {
                send: down(price.send, time_step),
                total: down(price.total, time_step),
            };
        }
    }
    if frame.price.iter().any(|p| p.send == 0) {
        return None;
    }
    for level in 0..depth {
        frame.size[pad + level] = chain.largest[level];
        let of_root = root.map_or(chain.largest[level], |root| chain.size_around(level, root));
        frame.first[pad + level] = of_root - 1;
    }
    Some(frame)
}
