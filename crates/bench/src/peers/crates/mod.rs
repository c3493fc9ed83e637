//! Barriers of Rust crates, at each of their ways to wait.
//!
//! | name | what | settings |
//! | --- | --- | --- |
//! | `hurdles` | a counter and a sense | spins with growing pauses, then yields |
//! | `spin::Barrier` | a counter behind a spin lock | spins, yields |
//! | `crossbeam-channel`, `std::sync::mpsc` | a barrier that programs build of channels: a word from each rank to the first, and one back | bounded, a channel for each rank |
//!
//! `crossbeam` itself has no barrier: its `WaitGroup` serves once.

mod channels;
mod counters;

pub use channels::Channels;
pub use counters::{Hurdles, SpinBarrier};

use crate::cpu_placement::{self, CpuPlacement};
use crate::peers::Selection;
use crate::race::Entrant;

/// The barriers of crates for a race on `placements`, pinned where these are, and for
/// [`Selection::All`] also unpinned.
pub fn barriers(placements: &[CpuPlacement], selection: Selection) -> Vec<Entrant<'static>> {
    let ranks = placements.len();
    let oversubscribed = cpu_placement::oversubscribed(placements);
    let all = || {
        let mut engines = vec![
            Entrant::threads(Hurdles::new(ranks)),
            Entrant::threads(SpinBarrier::<spin::Yield>::new(ranks)),
        ];
        // Spinning ranks that share a PU take a time slice of the scheduler for each operation.
        if !oversubscribed {
            engines.push(Entrant::threads(SpinBarrier::<spin::Spin>::new(ranks)));
        }
        if selection == Selection::All {
            engines.push(Entrant::threads(Channels::crossbeam(ranks)));
            engines.push(Entrant::threads(Channels::std(ranks)));
        }
        engines
    };
    let mut entrants = all();
    let pinned = placements
        .iter()
        .any(|placement| *placement != CpuPlacement::Free);
    if pinned && selection == Selection::All {
        entrants.extend(all().into_iter().map(Entrant::unpinned));
    }
    entrants
}
