//! The symbolic model: a lower and an upper bound of the time that an algorithm takes, without running it on a machine.
//!
//! ```text
//! algorithm ──► a rank on each fiber ──► graph of acts ──► T_min, T_max, paths
//!  over Fabric    takes down what          edges E1 to E4     on a machine's costs
//!  or primitives  it does to lines
//! ```
//!
//! The methodology is that of Ramos and Hoefler, *Cache Line Aware Algorithm Design for Cache-Coherent Architectures*
//! (CLa, TPDS 2016). The paper translates algorithms by hand; here [`record()`] runs the collectives that run on
//! hardware, once. [`record_lines`] does so with algorithms in the paper's primitives, copy, wait, write and add.
//! docs/symbolic.md says which of the paper's equations the model reproduces, and where the paper contradicts itself;
//! [`CostRules`] has the choices that this leaves.
//!
//! **Invariant 1:** acts are recorded in an order in which they can have happened, so that an act comes after all acts
//! on which it depends. **Invariant 2:** a graph does not depend on time, addresses or random numbers: the same
//! algorithm gives the same graph.

mod act_record;
mod analysis;
mod costs;
mod fabric;
mod graph;
mod greatest;
mod least;
mod lines;
mod parts;
mod placement;
mod price;
mod record;
mod recorder;
mod rules;
mod steps;
mod together;
mod traffic;

pub use analysis::{Analysis, Bounds};
pub use corecast_wire::cache_lines::LineKind;
pub use costs::{AccessCosts, Contention, ManyLines};
pub use fabric::Symbolic;
pub use graph::{Act, FoundAt, Graph, GraphLine, Op, Touch};
pub use least::ActTimes;
pub use lines::{RecordedLines, record_lines};
pub use parts::OnParts;
pub use placement::Placement;
pub use record::{record, record_job, record_results};
pub use recorder::{Awaited, Stuck};
pub use rules::{AdditionOverlap, CopyTime, CostRules, Crossings, Lying, Polls, Stealing};
