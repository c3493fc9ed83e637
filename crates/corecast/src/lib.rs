//! Communication between the cores of one machine, measured, planned and raced.
//!
//! A [`Team`] of threads, in one process or in several, runs collectives whose trees and rounds are
//! chosen for the machine that it runs on: barriers, collectives that move data, and reductions,
//! one at a time or several in flight. Without any setting it uses what the `corecast` command has measured
//! and raced on this machine, and [`Team::explain`] says what it chose and why.
//!
//! ```
//! let team = corecast::team(2)?;
//! let sums = team.run(|member| {
//!     member.barrier()?;
//!     member.allreduce_value(member.rank() as u64 + 1, |a, b| a + b)
//! });
//! assert_eq!(sums, [Ok(3), Ok(3)]);
//! # Ok::<(), corecast::Error>(())
//! ```
//!
//! | to do this | use |
//! | --- | --- |
//! | make a team | [`team()`], [`Builder`] |
//! | communicate | [`Member`] |
//! | combine | [`operator`], or any closure; [`Ordered`] where the order of ranks counts |
//! | compute meanwhile | [`Member::overlap`], [`Builder::depth`] |
//! | be a team of processes | [`Builder::enter`]; under a launcher [`Builder::inherited`] |
//! | have the same bits every time | [`Builder::deterministic`] |
//! | bring own threads | [`Team::join`], [`Team::pin_here`] |
//! | ask for algorithms by length | [`Builder::algorithms`], `CORECAST_ALGO` |
//! | see how long ranks wait, and for whom | [`Builder::record`], [`Team::record`], `corecast run --explain` |
//! | see the decision | [`Team::explain`], `CORECAST_DEBUG=INFO`, `corecast explain` |
//! | two threads, no team | [`queue`] |
//! | any threads, no team | [`Barrier`] |
//! | share the decision | [`choose`], [`rules`], [`costs`], [`store`] |
//!
//! **Architecture invariant:** teams and the `corecast` command choose by the one function
//! [`choose::choose`], so what `corecast explain` says is what runs.
#![forbid(unsafe_code)]

mod barrier;
mod builder;
pub mod choose;
pub mod costs;
mod cpu_placement;
pub mod debug;
mod error;
mod explanation;
mod fit;
pub mod interception;
mod learning;
mod numa_placement;
mod pins;
pub mod record;
mod recorded_teams;
pub mod rules;
pub mod store;
mod team;
mod waiting;
mod waits;

pub use barrier::Barrier;
pub use builder::{Builder, Planned, Successor};
pub use error::Error;
pub use explanation::{Chosen, Explanation, RankPlace, RunnerUp};
pub use learning::CORECAST_TUNE;
pub use numa_placement::NumaPlacement;
pub use pins::Pinning;
pub use team::Team;
pub use waiting::{WAIT, Waiting, WaitingError};
pub use waits::{Waits, fence};

pub use bytemuck;
pub use corecast_collectives::operator::{self, Operator, Ordered};
pub use corecast_collectives::pipeline::block;
pub use corecast_collectives::preferences as algorithms;
pub use corecast_collectives::{
    Algorithms, ByLength, ByLengthError, Combine, Learned, Parts, Plans, Pod,
};
pub use corecast_machine as machine;
pub use corecast_model as model;
pub use corecast_model::MachineFile;
pub use corecast_plan as plan;
pub use corecast_plan::Pattern;
pub use corecast_team::{
    AllocError, Await, Ended, Failure, JoinError, Loss, Member, Overlap, OverlapError, Progress,
    RankActivity, Request, Site, SymmetricBuffer, Synchrony,
};
pub use corecast_team::{MemberLines, TeamError, TeamLines};
pub use corecast_wire::phase_barrier::{Arrival, TooMany};
pub use corecast_wire::queue::{self, Backend};
pub use corecast_wire::{Placement, WaitConfig, WaitCosts};

/// CLa's four primitives, for algorithms that lay out their lines themselves: [`Team::lines`] and [`Member::on_lines`].
pub mod cache_lines {
    pub use corecast_collectives::one_line;
    pub use corecast_wire::cache_lines::{
        CacheLines, LineId, LineKind, LineSet, LineUse, PAYLOAD_WORDS, Payload,
    };
}

/// How processes of a team find each other, the variables that a launcher sets for them, and errors.
pub mod process {
    pub use corecast_process::{
        Address, CMA, COPIED, EnterError, InheritError, RANKS_MAX, RendezvousError,
        SegmentHeaderError, TEAM_FD, TEAM_RANK, TEAM_SIZE,
    };
    pub use corecast_team::{SharedMapping, SharedRegion, SharedRegions};
    pub use corecast_team::{SymmetricBytes, SymmetricHeap, TransferPath};
}

/// A team of `ranks` threads, everything chosen by Corecast.
///
/// # Errors
///
/// [`Error`].
///
/// # Examples
///
/// ```
/// let team = corecast::team(3)?;
/// team.run(|member| member.barrier().unwrap());
/// # Ok::<(), corecast::Error>(())
/// ```
pub fn team(ranks: usize) -> Result<Team, Error> {
    Builder::new().threads(ranks).build()
}

/// Makes `cargo test` run the programs of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
