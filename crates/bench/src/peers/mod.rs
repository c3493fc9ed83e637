//! What people use today, at its best settings.

mod mpi;
mod native;
mod pthread;
mod std_barrier;
mod workshop;

pub use mpi::Mpi;
pub use native::barriers as native_barriers;
pub use pthread::PthreadBarrier;
pub use std_barrier::StdBarrier;

use crate::race::Entrant;
use crate::seat::Seat;

/// Which settings of the peers take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Every setting of interest.
    All,
    /// Of libraries with many settings those that win on an idle machine: bound where the race is
    /// pinned, and waiting by the default or actively.
    Likely,
    /// Those that run on threads of this process: nothing is compiled or launched.
    Threads,
}

/// The barrier peers for a race on `seats`; what is missing on this machine is
/// among them as an absent entrant.
///
/// # Cost
///
/// Up to three compilations, about a second each.
pub fn barriers(seats: &[Seat], selection: Selection) -> Vec<Entrant<'static>> {
    let ranks = seats.len();
    let mut entrants = Vec::new();
    if seats.iter().any(|seat| *seat != Seat::Free) {
        entrants.push(Entrant::threads(StdBarrier::new(ranks)));
        entrants.push(Entrant::threads(PthreadBarrier::new(ranks)));
    }
    entrants.push(Entrant::threads(StdBarrier::new(ranks)).unpinned());
    entrants.push(Entrant::threads(PthreadBarrier::new(ranks)).unpinned());
    if selection != Selection::Threads {
        entrants.extend(native_barriers(seats, selection));
    }
    entrants
}
