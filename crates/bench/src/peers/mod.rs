//! What people use today, at its best settings.

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

use crate::engine::Engine;
use crate::race::Entrant;
use crate::seat::{self, Seat};

/// The barrier peers for a race on `seats`; what is missing on this machine is
/// among them as an absent entrant.
///
/// # Cost
///
/// Up to three compilations, about a second each.
pub fn barriers(seats: &[Seat], selection: Selection) -> Vec<Entrant<'static>> {
    let mut entrants = Vec::new();
    if seats.iter().any(|seat| *seat != Seat::Free) {
        entrants.extend(thread_barriers(seats).into_iter().map(Entrant::boxed));
    }
    let unpinned = thread_barriers(&seat::free(seats.len()));
    let unpinned = unpinned.into_iter().map(Entrant::boxed);
    entrants.extend(unpinned.map(Entrant::unpinned));
    entrants.extend(crates::barriers(seats, selection));
    if selection != Selection::Threads {
        entrants.extend(native_barriers(seats, selection));
    }
    entrants
}

/// The barriers that run on threads of this process, for ranks on `seats`.
pub fn thread_barriers(seats: &[Seat]) -> Vec<Box<dyn Engine>> {
    let (ranks, crowded) = (seats.len(), seat::oversubscribed(seats));
    vec![
        Box::new(StdBarrier::new(ranks)),
        Box::new(PthreadBarrier::new(ranks)),
        Box::new(TreeBarrier::new(ranks, crowded)),
        Box::new(DisseminationBarrier::new(ranks, crowded)),
    ]
}

/// Those for an application, where each solution counts: [`thread_barriers`] and those of crates that
/// are not far behind.
pub fn application_barriers(seats: &[Seat]) -> Vec<Box<dyn Engine>> {
    let mut engines = thread_barriers(seats);
    engines.push(Box::new(crates::Hurdles::new(seats.len())));
    engines.push(Box::new(crates::SpinBarrier::<spin::Yield>::new(
        seats.len(),
    )));
    engines
}
