//! Corecast's interleaved comparisons: the raw floor, Corecast's plans and their peers.
//!
//! A claim about speed is a ratio measured in one run. This crate runs the
//! things compared as *entrants* of a [race](race::run): in every round each
//! entrant runs one batch of operations, so that a noisy minute falls on all of
//! them alike, and round by round their samples form pairs.
//!
//! | part | holds |
//! | --- | --- |
//! | [`engine`] | what can be raced on threads: [`Engine`], [`Member`] and the check that precedes timing |
//! | [`external`] | what can be raced only as a process of its own: one launch per round |
//! | [`session`] | what can be raced only as processes that stay for the whole race and measure on request |
//! | [`sized`] | collectives of any size, timed in one way for all libraries |
//! | [`race`] | rounds, calibration, the stopping rule |
//! | [`stats`] | medians, their intervals, paired ratios |
//! | [`comparison`] | the outcome, and its versioned JSON form |
//! | [`table`] | the outcome as text |
//! | [`osu`] | the outcome in the format of the OSU Micro-Benchmarks |
//! | [`summary`] | races of one operation at several sizes as text |
//! | [`contestant`] | Corecast's operations over a plan |
//! | [`forks`] | fork and join: one rank hands pieces of work to all ranks |
//! | [`message`] | one message between two ranks, and other programs that measure it |
//! | [`floor`] | hand-written loops that no library can beat by much |
//! | [`peers`] | barriers that people use today |
//! | [`apps`] | applications that synchronise often, over barriers of several libraries |
//! | [`overheads`] | what constructs of parallel programs cost beyond the work in them |
//! | [`cpu_placement`] | where the ranks run |
//!
//! # Examples
//!
//! ```
//! use corecast_bench::{Entrant, Settings, peers, race, cpu_placement::CpuPlacement, table};
//!
//! let entrants = [Entrant::threads(peers::StdBarrier::new(2))];
//! let comparison = race::run(
//!     "barrier",
//!     &[CpuPlacement::Free, CpuPlacement::Free],
//!     &Settings::quick(),
//!     &entrants,
//!     |_| {},
//! )?;
//! assert_eq!(comparison.entries.len(), 1);
//! println!("{}", table::render(&comparison, table::Extent::All));
//! # Ok::<(), corecast_bench::RaceError>(())
//! ```

#![deny(unsafe_code)]

pub mod apps;
pub mod calls;
pub mod comparison;
pub mod contestant;
pub mod cpu_placement;
mod crew;
pub mod digest;
pub mod engine;
pub mod external;
pub mod floor;
pub mod forks;
pub mod message;
pub mod osu;
pub mod overheads;
mod page_elements;
pub mod peers;
pub mod race;
mod said;
pub mod scratch;
pub mod session;
pub mod sized;
pub mod stats;
pub mod summary;
pub mod table;

pub use comparison::{Comparison, Entry, Forecast, Status};
pub use contestant::{Contestant, Exercise};
pub use engine::{Engine, Flaw, Member, Role};
pub use external::External;
pub use race::{Entrant, Progress, RaceError, Settings};
pub use session::Session;
