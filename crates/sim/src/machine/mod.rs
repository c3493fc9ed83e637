//! A machine made of parts: cores with caches, shared caches, memories, and what joins them.
//!
//! ```text
//!   core ── L1 ── L2 ──┐                     each box is a server with a queue:
//!   core ── L1 ── L2 ──┼── shared cache ──┐  a cache that answers others, a shared cache,
//!   core ── L1 ── L2 ──┘                  │  a home that knows who has a line, a memory,
//!        inner network of a package       ├── home ── memory
//!                                         │
//!        other packages, over links ──────┘
//! ```
//!
//! All costs are in the machine's unit, cycles or nanoseconds.
//!
//! - [`known`] has machines by name: plain ones, and those of the literature.
//! - [`cla`] has the two machines that Ramos and Hoefler measured, [`mencagli`] the Intel machine of the paper on home
//!   forwarding.
//! - [`pairs`] makes a machine of which only pairwise costs are known.

mod check;
pub mod cla;
pub mod known;
mod links;
pub mod mencagli;
pub(crate) mod network;
pub mod pairs;
mod parts;
mod plain;
mod routes;

pub use check::SimMachineError;
pub(crate) use links::Payload;
pub use links::{Hop, Inner, PackageLink};
pub use parts::{CopyLookup, CorePlace, Home, PartCosts, PartSizes, Protocol, SimMachine, Spot};
