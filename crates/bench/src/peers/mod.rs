//! Peers: implementations that people use today, at their best settings.

pub mod crates;
mod mcs;
mod mpi;
mod native;
mod pthread;
mod selection;
mod std_barrier;
mod workshop;

pub use mcs::{DisseminationBarrier, TreeBarrier};
pub use mpi::Mpi;
pub use native::{NativeConstructs, barriers as native_barriers, forks as native_forks};
pub use pthread::PthreadBarrier;
pub use selection::Selection;
pub use std_barrier::StdBarrier;

use crate::cpu_placement::{self, CpuPlacement};
use crate::engine::Engine;
use crate::race::Entrant;

/// The barrier peers for a race on `placements`; a library that is missing on this
/// machine is an absent entrant.
///
/// # Cost
///
/// Up to three compilations, about a second each.
pub fn barriers(placements: &[CpuPlacement], selection: Selection) -> Vec<Entrant<'static>> {
    let mut entrants = Vec::new();
    if placements
        .iter()
        .any(|placement| *placement != CpuPlacement::Free)
    {
        entrants.extend(thread_barriers(placements).into_iter().map(Entrant::boxed));
    }
    let unpinned = thread_barriers(&cpu_placement::free(placements.len()));
    let unpinned = unpinned.into_iter().map(Entrant::boxed);
    entrants.extend(unpinned.map(Entrant::unpinned));
    entrants.extend(crates::barriers(placements, selection));
    if selection != Selection::Threads {
        entrants.extend(native_barriers(placements, selection));
    }
    entrants
}

/// The barriers that run on threads of this process, for ranks on `placements`.
pub fn thread_barriers(placements: &[CpuPlacement]) -> Vec<Box<dyn Engine>> {
    let (ranks, oversubscribed) = (placements.len(), cpu_placement::oversubscribed(placements));
    vec![
        Box::new(StdBarrier::new(ranks)),
        Box::new(PthreadBarrier::new(ranks)),
        Box::new(TreeBarrier::new(ranks, oversubscribed)),
        Box::new(DisseminationBarrier::new(ranks, oversubscribed)),
    ]
}

/// The barriers for races of applications, where each solution takes long: [`thread_barriers`] and
/// the fastest of crates.
pub fn application_barriers(placements: &[CpuPlacement]) -> Vec<Box<dyn Engine>> {
    let mut engines = thread_barriers(placements);
    engines.push(Box::new(crates::Hurdles::new(placements.len())));
    engines.push(Box::new(crates::SpinBarrier::<spin::Yield>::new(
        placements.len(),
    )));
    engines
}
