//! Certified lower bounds: no schedule can be faster, under the exact costs.
//!
//! A bound here is the greatest of several, each valid by itself:
//!
//! - **reach**: a member cannot have the value before the cheapest way in from the root delivers it
//!   (shortest paths over send + receive);
//! - **growth**: with every send as cheap as the cheapest and every receive too, informed members
//!   multiply no faster than in the postal model, and the k-th message cannot start before a
//!   certain time; its receiver needs at least its own cheapest message from then on;
//! - **islands**: the count of growth with two prices, one inside of groups of near members, whose size
//!   limits how far the low price goes, and one between groups.
//!
//! A tighter bound that takes longer is [`levels()`], with nested groups and a price for each
//! level.

pub(crate) mod groups;
mod growth;
mod islands;
pub(crate) mod levels;
pub(crate) mod measure;
pub(crate) mod reach;

use std::ops::ControlFlow;

use corecast_model::CostModel;

pub use levels::levels;

use crate::operation::Operation;
use crate::pace::{self, Pace};

/// The relative difference below which latency and bound count as equal: proofs count in whole
/// ticks, each a small fraction of the latency, and sums taken in another order differ in their
/// last bits.
pub(crate) const PROVED: f64 = 1e-7;

/// No tree with this root performs the operation faster; without a root, none with any root.
///
/// For a barrier the bound holds even when fan-in and fan-out use different trees of one root.
///
/// # Panics
///
/// When the root is outside of the team.
///
/// # Cost
///
/// O(n²), and for each of up to four partitions a count whose work is limited whatever n is; 40 to
/// 60 ms at 1,024 members (2.5 GHz Xeon, November 2026, `cargo run --release --example large`).
/// Without a root all roots are looked at in teams of up to 64 members, O(n³).
#[must_use]
pub fn lower_bound(costs: &CostModel, operation: Operation, root: Option<usize>) -> f64 {
    pace::unwatched(|pace| lower_bound_within(costs, operation, root, pace))
}

/// Returns [`lower_bound`], unless a watcher ends the search.
pub(crate) fn lower_bound_within(
    costs: &CostModel,
    operation: Operation,
    root: Option<usize>,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), f64> {
    if let Some(root) = root {
        assert!(
            root < costs.n(),
            "root {root} is outside of a team of {}",
            costs.n()
        );
    }
    let bounds = match operation {
        Operation::Broadcast => roots(costs, root, pace)?,
        Operation::Reduce => roots(&mirrored(costs, pace)?, root, pace)?,
        Operation::Barrier => both_ways(costs, &mirrored(costs, pace)?, root, pace)?,
    };
    ControlFlow::Continue(least(&bounds))
}

/// Returns the bound of a barrier, of which the mirrored costs are there already.
pub(crate) fn barrier_within(
    costs: &CostModel,
    mirrored: &CostModel,
    root: Option<usize>,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), f64> {
    both_ways(costs, mirrored, root, pace).map_continue(|bounds| least(&bounds))
}

fn both_ways(
    costs: &CostModel,
    mirrored: &CostModel,
    root: Option<usize>,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Vec<f64>> {
    let mut both = roots(costs, root, pace)?;
    let inward = roots(mirrored, root, pace)?;
    both.iter_mut().zip(inward).for_each(|(out, r)| *out += r);
    ControlFlow::Continue(both)
}

/// Returns the mirrored costs, unless a watcher ends the search.
pub(crate) fn mirrored(costs: &CostModel, pace: &mut Pace<'_>) -> ControlFlow<(), CostModel> {
    costs.mirrored_while(&mut |entries| pace.spend(8 * entries as u64))
}

/// Returns a latency that no barrier of any shape beats: every arrival must become known to all.
///
/// The news of one member's arrival spread no faster than a broadcast from it, and the news of all
/// come together at one member no faster than a reduction to it.
///
/// # Cost
///
/// O(n²) for each of up to 8 members that are looked at.
#[must_use]
pub fn any_barrier(costs: &CostModel) -> f64 {
    pace::unwatched(|pace| any_barrier_within(costs, pace))
}

/// Returns [`any_barrier`], unless a watcher ends the search.
pub(crate) fn any_barrier_within(costs: &CostModel, pace: &mut Pace<'_>) -> ControlFlow<(), f64> {
    let n = costs.n();
    let mut best = 0.0_f64;
    let mut way = |costs: &CostModel, pace: &mut Pace<'_>| {
        best = best.max(islands::bound(costs, None, pace)?);
        for root in (0..n).step_by(n.div_ceil(8)) {
            best = best.max(reach::bound(costs, root, pace)?);
            best = best.max(growth::bound(costs, Some(root), pace)?);
        }
        ControlFlow::Continue(())
    };
    way(costs, pace)?;
    way(&mirrored(costs, pace)?, pace)?;
    ControlFlow::Continue(best)
}

/// Largest team whose roots are looked at one by one.
const ROOTS_MAX: usize = 64;

/// Returns one bound for each possible root: a single one where `root` is given or where one bound
/// holds for all roots.
fn roots(costs: &CostModel, root: Option<usize>, pace: &mut Pace<'_>) -> ControlFlow<(), Vec<f64>> {
    let near = islands::bound(costs, root, pace)?;
    let each = match root {
        Some(root) => root..root + 1,
        None if costs.n() <= ROOTS_MAX => 0..costs.n(),
        None => {
            let any = growth::bound(costs, None, pace)?;
            return ControlFlow::Continue(vec![near.max(any)]);
        }
    };
    let mut bounds = Vec::with_capacity(each.len());
    for root in each {
        let alone = reach::bound(costs, root, pace)?.max(growth::bound(costs, Some(root), pace)?);
        bounds.push(alone.max(near));
    }
    ControlFlow::Continue(bounds)
}

fn least(bounds: &[f64]) -> f64 {
    bounds.iter().copied().fold(f64::INFINITY, f64::min)
}
