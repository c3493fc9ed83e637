//! The symbolic model: what an algorithm costs at least and at most, without running it for real.
//!
//! ```text
//! algorithm ──► a rank on each fiber ──► graph of acts ──► T_min, T_max, paths
//!  over Fabric    takes down what          edges E1 to E4     on a machine's costs
//!  or primitives  it does to lines
//! ```
//!
//! The methodology is that of Ramos and Hoefler, *Cache Line Aware Algorithm Design for Cache-Coherent
//! Architectures* (CLa, TPDS 2016), which translates algorithms by hand; here [`record`] runs the very
//! collectives that run on hardware, once. [`trace`] takes algorithms in the paper's primitives, copy,
//! wait, write and add. docs/symbolic.md says which of the paper's equations come out, and where the paper
//! contradicts itself; [`Reading`] has the choices that this leaves.
//!
//! **Invariant 1:** acts are taken down in an order in which they can have happened, so that everything
//! an act depends on stands before it. **Invariant 2:** nothing here depends on time, addresses or
//! chance: the same algorithm gives the same graph.

mod analysis;
pub mod choose;
mod costs;
mod fabric;
mod graph;
mod greatest;
mod hand;
mod least;
mod ledger;
mod parts;
mod price;
pub mod published;
mod reading;
mod replay;
mod run;
mod seats;
mod steps;
mod together;

pub use analysis::{Analysis, Bounds};
pub use costs::{Contention, Costs, Lies, ManyLines, XEON_PHI_CONTENTION, XEON_PHI_LINES};
pub use fabric::{Symbolic, record, record_job};
pub use graph::{Act, Found, Graph, Kind, Line, Op, Touch};
pub use hand::{Hand, LineId, Lines, trace};
pub use least::Times;
pub use parts::OnParts;
pub use reading::{Copies, Crossings, Lying, Overlap, Polls, Reading, Stealing};
pub use replay::replay;
pub use run::{Awaited, Stuck};
pub use seats::Seats;
