//! Corecast's collectives over any plan: barriers, everything that moves data, and everything that
//! combines them.
//!
//! A [`Team`] has one [`Member`] per rank. Members call the same operations in the same order;
//! whoever does otherwise gets an error that names both call sites, and so does everybody who
//! waits for it. Algorithms are one file each, written over
//! [`Fabric`](corecast_wire::Fabric), so that the code that runs on hardware also runs on any
//! other fabric.
//!
//! **Architecture invariants:** nothing plans, allocates or locks on the way of an operation that
//! succeeds; no wait is without the governor; no wait for a member that has gone or done something
//! else is endless.
//!
//! # Examples
//!
//! ```
//! use corecast_coll::{Plans, Team};
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

pub mod algorithms;
pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod barrier;
mod board;
pub mod brackets;
pub mod broadcast;
pub mod combine;
mod edges;
mod element;
mod failure;
pub mod fragments;
mod frame;
pub mod gather;
pub mod groups;
mod hardware;
mod lane;
mod layout;
mod loans;
mod log;
mod member;
mod operation;
pub mod operator;
mod parts;
mod plans;
pub mod process;
pub mod reduce;
pub mod reduce_scatter;
mod route;
pub mod scan;
pub mod scatter;
mod team;
pub mod transfer;

pub use algorithms::{Algorithms, ByLength, ByLengthError, RANGES_MAX};
pub use bytemuck::Pod;
pub use combine::Combine;
pub use failure::{Did, Failure, Loss, Site};
pub use fragments::Fragments;
pub use groups::Groups;
pub use hardware::Hardware;
pub use member::{Await, Member, Overlap, OverlapError, Request, Synchrony, UnknownSynchrony};
pub use operation::{Kind, Operation};
pub use operator::{Operator, Ordered};
pub use parts::Parts;
pub use plans::{BarrierPlan, Plans, PlansError};
pub use route::Route;
pub use team::{JoinError, Options, Team, TeamError};
pub use transfer::Way;
