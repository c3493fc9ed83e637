//! Informed members multiply no faster than two prices and the size of groups allow.
//!
//! Split the members into groups. An *island* of a tree is a maximal part that only uses messages
//! inside of one group; it has at most as many members as the largest group. Let every message
//! inside of a group take the least send and receive found there, and every message across those
//! found there. Let `H(t, k)` be the most members, the holder included, that one holder can inform
//! within time t when its island may grow by k more members:
//!
//! ```text
//! H(t, k) = max of  1
//!                   H(t − s, k) + H(t − s − r, m − 1)                across: a new island of m
//!                   H(t − s', a) + H(t − s' − r', k − 1 − a)         inside: k is shared out
//! ```
//!
//! No tree over n members can be faster than the least t with `H(t, m_root − 1) ≥ n`. Times are
//! whole multiples of a time step, costs rounded down, which can only make the bound lower.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::groups::{Partition, Price, partitions};
use super::measure::measure;
use crate::cost::latency;
use crate::operation::Operation;
use crate::pace::Pace;
use crate::smelt;

/// Additions that one count may take; 40 million are some 20 ms (2.5 GHz Xeon,
/// November 2026, release build).
const WORK_MAX: usize = 40_000_000;
/// Most time steps that a tree's latency is divided into.
const TIME_STEPS_MAX: usize = 4096;

/// The greatest bound of all partitions; 0 when there is none with near and far.
///
/// Without a root the bound holds for every root.
pub(super) fn bound(
    costs: &CostModel,
    root: Option<usize>,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), f64> {
    let base = smelt::base_within(costs, root.unwrap_or(0), pace)?;
    let upper = latency(costs, &base, Operation::Broadcast);
    let mut best = 0.0_f64;
    for partition in partitions(costs, pace)? {
        best = best.max(of_partition(&partition, root, upper, pace)?);
    }
    ControlFlow::Continue(best)
}

fn of_partition(
    partition: &Partition,
    root: Option<usize>,
    upper: f64,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), f64> {
    let n = partition.group.len();
    let largest = partition.size.iter().copied().max().unwrap_or(1);
    let first = root.map_or(largest, |root| partition.size[partition.group[root]]);
    let time_steps = (WORK_MAX / (largest * largest)).min(TIME_STEPS_MAX);
    if upper <= 0.0 || time_steps < 32 {
        return ControlFlow::Continue(0.0);
    }
    let time_step = time_step(partition, upper, time_steps);
    let count = Count {
        enough: n as u32,
        island: largest,
        inside: partition.inside.rounded_down(time_step),
        across: partition.across.rounded_down(time_step),
    };
    // A tree of latency `upper` exists, so the count gets there; one time step is for rounding.
    let limit = (upper / time_step) as usize + 2;
    let first = count.first_time(first, limit, pace)?;
    ControlFlow::Continue(first as f64 * time_step)
}

/// The length of a time step: a common divisor of all costs where there is one that is long enough.
fn time_step(partition: &Partition, upper: f64, time_steps: usize) -> f64 {
    let Partition { inside, across, .. } = partition;
    let costs = [inside.send, inside.receive, across.send, across.receive];
    measure(&costs, upper / time_steps as f64, 0.0)
}

/// A price in time steps.
#[derive(Clone, Copy)]
struct TimeSteps {
    send: usize,
    total: usize,
}

impl Price {
    fn rounded_down(self, time_step: f64) -> TimeSteps {
        // A hair more than the quotient, so that exact multiples are not lost to division, and
        // never more than the cost: the multiple is compared with it.
        let down = |cost: f64| {
            if cost.is_infinite() {
                return usize::MAX / 4;
            }
            let near = (cost / time_step).round();
            if near * time_step <= cost {
                near as usize
            } else {
                (cost / time_step).floor() as usize
            }
        };
        let send = down(self.send);
        TimeSteps {
            send,
            total: send + down(self.receive),
        }
    }
}

struct Count {
    /// Counting stops here.
    enough: u32,
    /// Members of the largest group.
    island: usize,
    inside: TimeSteps,
    across: TimeSteps,
}

impl Count {
    /// The least t with `H(t, first − 1) ≥ enough`, at most `limit`.
    fn first_time(
        &self,
        first: usize,
        limit: usize,
        pace: &mut Pace<'_>,
    ) -> ControlFlow<(), usize> {
        let m = self.island;
        // table[t * m + k] = H(t, k)
        let mut table = vec![1_u32; (limit + 1) * m];
        for t in 0..=limit {
            pace.spend((m * m / 2 + m) as u64)?;
            let (earlier, row) = table.split_at_mut(t * m);
            for k in 0..m {
                // H(t − past, ·). Messages may take no time at all; then this row is meant, whose
                // entries below k are known.
                let ago = |past: usize| {
                    let this = &row[..m];
                    if past == 0 {
                        this
                    } else {
                        &earlier[(t - past) * m..][..m]
                    }
                };
                let mut best = 1;
                if t >= self.across.total {
                    best = if self.across.send == 0 {
                        // Any number of islands at once.
                        self.enough
                    } else {
                        ago(self.across.send)[k] + ago(self.across.total)[m - 1]
                    };
                }
                if k > 0 && t >= self.inside.total {
                    let split = best_split(ago(self.inside.send), ago(self.inside.total), k);
                    best = best.max(split);
                }
                row[k] = best.min(self.enough);
            }
            if row[first - 1] >= self.enough {
                return ControlFlow::Continue(t);
            }
        }
        ControlFlow::Continue(limit)
    }
}

/// The best way to share k − 1 more members of an island between a holder, which has sent a
/// message, and the child that has received it.
fn best_split(sent: &[u32], arrived: &[u32], k: usize) -> u32 {
    let pairs = sent[..k].iter().zip(arrived[..k].iter().rev());
    pairs.map(|(a, b)| a + b).max().unwrap_or(1)
}
