//! Corecast's teams: one member per rank, collectives over any plan, operations in flight, and failures that
//! name the ranks and call sites involved.
//!
//! A [`Team`] has one [`Member`] per rank. Members call the same operations in the same order. A member that
//! does otherwise gets an error that names both call sites, and so do all members that wait for it. The
//! algorithms are those of `corecast-collectives`, over [`Hardware`], the fabric of real threads. Teams of
//! several processes are made by `corecast-process`.
//!
//! **Architecture invariants:** an operation that succeeds neither plans nor allocates nor takes a lock, unless its team
//! learns; every
//! wait uses the team's wait strategy; every wait for a member that has left, or has called another operation,
//! ends with a failure.
//!
//! # Examples
//!
//! ```
//! use corecast_team::{Plans, Team};
//! use corecast_plan::Pattern;
//!
//! let costs = corecast_model::synthetic("core:4").unwrap();
//! let team = Team::new(Plans::of_pattern(costs.costs(), Pattern::Binomial, None)?)?;
//! let sums = team.run(|member| {
//!     let mine = member.rank() as u64 + 1;
//!     member.allreduce_value(mine, |a, b| a + b)
//! });
//! assert!(sums.into_iter().all(|sum| sum == Ok(10)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod call_sites;
mod element;
mod error;
mod failure;
mod hardware;
mod member;
mod op_tracker;
mod operation;
mod options;
mod progress;
mod record;
mod recording;
#[cfg(not(loom))]
mod symmetric;
mod team;
pub mod team_memory;
mod team_state;
mod transfer_path;

pub use bytemuck::Pod;
pub use corecast_collectives::{
    Algorithms, BarrierPlan, ByLength, ByLengthError, Collective, Combine, Learned, Operator,
    Ordered, Parts, Plans, PlansError, RANGES_MAX,
};
#[cfg(not(loom))]
pub use corecast_transfer::{
    AllocError, SharedMapping, SharedRegion, SharedRegions, SymmetricBytes, SymmetricHeap,
};
pub use error::{JoinError, TeamError};
pub use failure::{Failure, Loss, RankActivity, Site};
pub use hardware::{Hardware, MemberLines, TeamLines};
pub use member::{Await, Member, Overlap, OverlapError, Request, Synchrony, UnknownSynchrony};
pub use operation::Operation;
pub use options::{DEPTH_MAX, Options};
pub use progress::{Ended, Progress};
pub use recording::{CallKind, CallSite, CallSums, Recording, SiteCalls, Stay};
#[cfg(not(loom))]
pub use symmetric::SymmetricBuffer;
pub use team::{Kept, OwnPart, Team};
pub use team_memory::TeamMemory;
pub use team_state::TeamState;
#[cfg(not(loom))]
pub use transfer_path::Heaps;
pub use transfer_path::{KernelCopies, LendsFrom, Processes, TransferPath, TransferPaths};

/// What one operation at a time runs on: a rank's ends of the lines and its schedule.
pub(crate) type OpContext = corecast_collectives::OpContext<Hardware>;
