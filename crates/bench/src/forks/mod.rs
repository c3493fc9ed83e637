//! Fork and join: one rank lets all ranks do a piece of work, and goes on when all are done.
//!
//! ```text
//! rank 0   fork ──► piece ──► join ──► fork …
//! rank 1    └─────► piece ─────┘
//! ```
//!
//! This is what a parallel loop costs beside its work. A piece is one store to a cache line of the
//! rank. The check before timing requires that at each join all pieces of this fork are done, and
//! none of the next one.
//!
//! | entrant | how |
//! | --- | --- |
//! | floor | a line to each rank and a line back |
//! | [`Team`] | Corecast: two barriers, or a broadcast and a reduce over the same tree |
//! | [`Rayon`] | `rayon::broadcast`, from one of the pool's threads and from outside |
//! | [`Scope`] | `std::thread::scope`, a new thread for each rank |
//! | OpenMP | a parallel region of `gomp` and `libomp`, see [`crate::peers`] |

mod others;
mod own;
mod pieces;

pub use others::{Rayon, Scope};
pub use own::{Lines, Method, Team};
pub use pieces::{Forking, Pieces};

use crate::cpu_placement::{self, CpuPlacement};
use crate::peers::{Selection, native_forks};
use crate::race::Entrant;

/// Forks and joins of other libraries for a race on `placements`; a library that is missing on this
/// machine is an absent entrant.
///
/// # Cost
///
/// Up to two compilations, about a second each.
pub fn peers(placements: &[CpuPlacement], selection: Selection) -> Vec<Entrant<'static>> {
    let of = |placements: &[CpuPlacement]| {
        vec![
            Entrant::threads(Rayon::inside(placements)),
            Entrant::threads(Rayon::outside(placements)),
            Entrant::threads(Scope::new(placements)),
        ]
    };
    let mut entrants = of(placements);
    if placements
        .iter()
        .any(|placement| *placement != CpuPlacement::Free)
        && selection == Selection::All
    {
        let free = of(&cpu_placement::free(placements.len()));
        entrants.extend(free.into_iter().map(Entrant::unpinned));
    }
    if selection != Selection::Threads {
        entrants.extend(native_forks(placements, selection));
    }
    entrants
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine, Member};
    use crate::{Settings, Status, race};

    /// An engine that forgets the piece of rank 1 in one of its forks.
    struct Forgetful(Pieces);

    impl Engine for Forgetful {
        fn name(&self) -> &str {
            "forgetful"
        }

        fn ranks(&self) -> usize {
            2
        }

        fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
            let mut forks = 0;
            Box::new(Forking::new(rank, &self.0, move |operations| {
                for _ in 0..if rank == 0 { operations } else { 0 } {
                    forks += 1;
                    self.0.work(0);
                    if forks != 17 {
                        self.0.work(1);
                    }
                }
            }))
        }
    }

    #[test]
    fn a_join_before_all_work_is_done_is_found() {
        let entrants = [Entrant::threads(Forgetful(Pieces::new(2)))];
        let placements = cpu_placement::free(2);
        let race = race::run("test", &placements, &Settings::quick(), &entrants, |_| {}).unwrap();
        let status = &race.entries[0].status;
        assert!(
            matches!(status, Status::Failed(why) if why.contains("rank 1 had done")),
            "{status:?}"
        );
    }
}
