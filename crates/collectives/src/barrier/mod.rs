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
    ran(context);
    context.schedule.barrier.run(&mut context.fabric)
}

/// Whether the barrier is a [`butterfly`](fn@butterfly) of two ranks, for which a fabric may have a shorter way.
#[inline(always)]
pub fn is_exchange<F>(context: &OpContext<F>) -> bool {
    matches!(&context.schedule.barrier, BarrierSchedule::Butterfly(peers) if peers.len() == 1)
}

/// Records a barrier that the fabric runs by itself.
#[inline(always)]
pub fn ran<F>(context: &OpContext<F>) {
    record::ran(context.schedule.barrier_algorithm);
}
