//! The cost of constructs of parallel programs beyond the work in them, measured as EPCC's OpenMP
//! benchmarks do.
//!
//! ```text
//! overhead = time of one construct around a delay − time of the bare delay
//! ```
//!
//! One thread alone runs the bare delay, the *reference*, in the same round as all constructs; each
//! round is one of EPCC's outer repetitions. Where ranks share PUs, delays of several ranks run one
//! after the other, and count as overhead, in EPCC's benchmarks too.
//!
//! | construct | OpenMP | by a barrier | by Corecast's collectives |
//! | --- | --- | --- | --- |
//! | parallel | `parallel` | barrier, work, barrier | broadcast, work, reduce |
//! | for | `for schedule(static)` | own iteration, barrier | own iteration, barrier |
//! | parallel for | `parallel for` | barrier, own iteration, barrier | broadcast, own iteration, reduce |
//! | barrier | `barrier` | work, barrier | work, barrier |
//! | single | `single` | the first to come works, barrier | the first to come works, barrier |
//! | critical | `critical` | – | – |
//! | reduction | `parallel reduction(+)` | as parallel, rank 0 adds up a table | as parallel |
//!
//! Corecast and barriers have no lock; [`std::sync::Mutex`] takes part in critical, and
//! [`std::thread::scope`] in parallel.
//!
//! Source: Bull, *Measuring Synchronisation and Scheduling Overheads in OpenMP*, EWOMP 1999; Smelt
//! §5.3, Table 2.

mod construct;
mod delay;
mod kind;
mod report;
mod standard;

pub use construct::constructing;
pub use delay::{DELAY_NS, Delay};
pub use kind::Construct;
pub use report::{Overhead, Report, SCHEMA, Table};
pub use standard::{Critical, Spawning};

use crate::apps::Provider;
use crate::comparison::Comparison;
use crate::cpu_placement::CpuPlacement;
use crate::engine::{Engine, Flaw, Ledger, Member, Role};
use crate::peers::NativeConstructs;
use crate::race::{self, Entrant, Progress, RaceError, Settings};
use std::time::Duration;

/// Settings with EPCC's usual repetitions: 20 or more of a millisecond.
pub fn settings(quick: bool) -> Settings {
    match quick {
        true => Settings::quick(),
        false => Settings {
            rounds_min: 20,
            rounds_max: 100,
            budget: Duration::from_secs(6),
            ..Settings::default()
        },
    }
}

/// Races one construct over each of `providers`; with `native`, also by the standard library and by
/// OpenMP.
///
/// # Errors
///
/// [`RaceError`] if there are no placements.
pub fn race(
    construct: Construct,
    delay: Delay,
    placements: &[CpuPlacement],
    settings: &Settings,
    providers: Vec<Box<dyn Provider + '_>>,
    native: Option<&NativeConstructs>,
    progress: impl FnMut(Progress<'_>),
) -> Result<Comparison, RaceError> {
    let ranks = placements.len();
    let mut entrants = vec![Entrant::threads(Reference { delay, ranks })];
    for provider in providers {
        if construct != Construct::Critical {
            let engine = constructing(construct, delay, provider);
            entrants.push(Entrant::threads(engine));
        }
    }
    if let Some(native) = native {
        match construct {
            Construct::Parallel => {
                entrants.push(Entrant::threads(Spawning::new(delay, placements)))
            }
            Construct::Critical => entrants.push(Entrant::threads(Critical::new(delay, ranks))),
            _ => {}
        }
        entrants.extend(native.entrants(construct));
    }
    race::run(construct.name(), placements, settings, &entrants, progress)
}

/// The bare delay, on rank 0.
struct Reference {
    delay: Delay,
    ranks: usize,
}

impl Engine for Reference {
    fn name(&self) -> &str {
        "reference"
    }

    fn setting(&self) -> String {
        "the bare delay on one rank".to_owned()
    }

    fn role(&self) -> Role {
        Role::Floor
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        Box::new(Alone(rank == 0, self.delay))
    }
}

/// Whether this rank runs the delay, and the delay.
struct Alone(bool, Delay);

impl Member for Alone {
    fn run(&mut self, operations: u64) {
        let operations = if self.0 { operations } else { 0 };
        for _ in 0..operations {
            self.1.wait();
        }
    }

    fn verify(&mut self, _rank: usize, _ledger: &Ledger) -> Result<(), Flaw> {
        Ok(())
    }
}
