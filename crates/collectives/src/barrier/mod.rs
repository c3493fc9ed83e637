//! Barriers: no rank leaves before all ranks have come.

mod algorithm;
mod butterfly;
mod counter;
mod dissemination;
mod groups;
mod m_way;
mod multi_m;
mod package_roots;
mod packages;
mod pair_wise;
mod tree;

pub use algorithm::{Algorithm, BarrierSchedule, choose};
pub use butterfly::{butterfly, butterfly_peers};
pub use counter::counter;
pub use dissemination::{Steps, dissemination};
pub use groups::{GroupSchedule, grouped, groups};
pub use m_way::{LineSteps, best_m, m_way};
pub use multi_m::{factors, multi_m_rounds};
pub use package_roots::package_root_rounds;
pub use pair_wise::pair_wise_rounds;
pub use tree::tree;

use crate::context::OpContext;
use crate::registry::record;
use corecast_wire::Fabric;

/// Returns when all ranks have come, by the algorithm that the team was laid out for.
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline(always)]
pub fn start<F: Fabric>(context: &mut OpContext<F>) -> Result<(), F::Error> {
    arrive(context)?;
    complete(context)
}

/// The part of a barrier that comes before everything else that a rank does in it: it tells the other one of two ranks, which
/// waits for that. Others do all in [`complete`].
///
/// # Errors
///
/// As [`start`].
#[inline(always)]
pub fn arrive<F: Fabric>(context: &mut OpContext<F>) -> Result<(), F::Error> {
    context.schedule.barrier.arrive(&mut context.fabric)
}

/// What is left of a barrier after [`arrive`].
///
/// # Errors
///
/// As [`start`].
#[inline(always)]
pub fn complete<F: Fabric>(context: &mut OpContext<F>) -> Result<(), F::Error> {
    record::ran(context.schedule.barrier_algorithm);
    context.schedule.barrier.complete(&mut context.fabric)
}
