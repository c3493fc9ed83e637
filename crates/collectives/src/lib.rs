//! Corecast's collectives: every algorithm once, generic over any [`Fabric`](corecast_wire::Fabric), and the registry
//! that knows them all.
//!
//! | module | what |
//! | --- | --- |
//! | [`registry`] | an entry for each algorithm, and the inputs of a choice |
//! | [`barrier`] … [`scan`] | a folder per collective, a file per algorithm; `algorithm.rs` holds entries and the choice, `mod.rs` runs them |
//! | [`preferences`] | algorithms that were asked for, by length and by name |
//! | [`learning`] | a team that learns which algorithms are fastest while it runs |
//! | [`plans`], [`layout`], [`context`] | the plans of a team, the shared lines that they need and what each rank does, and the context in which one operation runs |
//! | [`one_line`] | algorithms in CLa's four primitives, which a team can run beside its collectives |
//! | [`operator`], [`combine`] | operators on elements, and how an algorithm sees an operator |
//!
//! Each collective has `start`, which chooses an algorithm and runs it, and `run`, which runs a given one. The
//! hardware is one fabric, a simulated machine is another; any other fabric gets all collectives as well.
//!
//! **Architecture invariants:** an algorithm knows nothing of threads, processes, operations in flight or types of
//! elements: it has a fabric, routes and bytes. In every algorithm a member has sent all messages of an operation
//! before it enters the next operation.
#![forbid(unsafe_code)]

pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod barrier;
mod binomial_segments;
mod binomial_tree;
pub mod broadcast;
mod catalog;
pub mod combine;
pub mod context;
mod edges;
pub mod gather;
pub mod groups;
pub mod layout;
pub mod learning;
mod next_algorithm;
pub mod one_line;
pub mod operator;
mod packages;
mod part_lengths;
mod parts;
pub mod pipeline;
pub mod plans;
pub mod preferences;
pub mod reduce;
pub mod reduce_scatter;
pub mod reduction_order;
pub mod registry;
mod route;
pub mod scan;
pub mod scatter;
mod short_copy;
mod token;
pub mod transfer;

pub use bytemuck::Pod;
pub use catalog::{entries, entry};
pub use combine::{Combine, On};
pub use context::OpContext;
pub use corecast_model::Collective;
pub use edges::edges;
pub use groups::Groups;
pub use layout::{Layout, RankSchedule};
pub use learning::Learned;
pub use operator::{Operator, Ordered};
pub use parts::Parts;
pub use pipeline::PipelineSegments;
pub use plans::{BarrierPlan, MESH_RANKS_MAX, Plans, PlansError};
pub use preferences::{Algorithms, ByLength, ByLengthError, RANGES_MAX};
pub use registry::{Entry, Selection};
pub use route::Route;
pub use transfer::TransferProtocol;
