//! Barriers of Rust crates, at each of their ways to wait.
//!
//! | name | what | settings |
//! | --- | --- | --- |
//! | `hurdles` | a counter and a sense | spins with growing pauses, then yields |
//! | `spin::Barrier` | a counter behind a spin lock | spins, yields |
//! | `crossbeam-channel`, `std::sync::mpsc` | what programs build that have channels: a word from each rank to the first, and one back | bounded, a channel for each rank |
//!
//! `crossbeam` itself has no barrier: its `WaitGroup` serves once.

mod channels;
mod counters;

pub use channels::Channels;
pub use counters::{Hurdles, SpinBarrier};

use crate::peers::Selection;
use crate::race::Entrant;
use crate::seat::{self, Seat};

/// The barriers of crates for a race on `seats`, pinned where these are, and for
/// [`Selection::All`] also not.
pub fn barriers(seats: &[Seat], selection: Selection) -> Vec<Entrant<'static>> {
    let ranks = seats.len();
    let crowded = seat::oversubscribed(seats);
    let all = || {
        let mut engines = vec![
            Entrant::threads(Hurdles::new(ranks)),
            Entrant::threads(SpinBarrier::<spin::Yield>::new(ranks)),
        ];
        // Ranks that spin in each other's way take a scheduler's slice for each operation.
        if !crowded {
            engines.push(Entrant::threads(SpinBarrier::<spin::Spin>::new(ranks)));
        }
        if selection == Selection::All {
            engines.push(Entrant::threads(Channels::crossbeam(ranks)));
            engines.push(Entrant::threads(Channels::std(ranks)));
        }
        engines
    };
    let mut entrants = all();
    let pinned = seats.iter().any(|seat| *seat != Seat::Free);
    if pinned && selection == Selection::All {
        entrants.extend(all().into_iter().map(Entrant::unpinned));
    }
    entrants
}
