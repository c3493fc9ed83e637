//! Corecast's pure data: machines, pairwise costs, versioned file formats.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`collective`] | the collectives by name, and ranks |
//! | [`machine`] | the hardware as a table of processing units |
//! | [`pairwise`] | what one message costs each end, for every ordered pair of threads |
//! | [`lines`] | what a line costs that several threads share |
//! | [`messages`] | what messages cost that come alone, and calls: what a simulated machine needs |
//! | [`deep`] | what a measurement in depth found: latencies by state and level, CLa's parameters |
//! | [`classes`] | costs by proximity, for machines whose pairs were not measured |
//! | [`cluster`] | hosts that a network joins, and the costs of messages between them |
//! | [`mod@file`] | the machine file, and the reader of the public machine database's format |
//! | [`mod@synthetic`] | machines made up from a line of text |
//! | [`mod@builtin`] | machines whose costs the literature gives |
//! | [`profile`] | what was raced on a machine, winners and losers |
//! | [`words`] | numbers as people read them |
//!
//! **Architecture invariant:** this crate does no I/O, reads no clock and holds no unsafe code.
#![forbid(unsafe_code)]

mod basis;
pub mod builtin;
pub mod classes;
pub mod cluster;
pub mod collective;
pub mod deep;
pub mod file;
mod levels;
pub mod lines;
pub mod machine;
pub mod messages;
pub mod pairwise;
mod place;
pub mod profile;
pub mod synthetic;
pub mod words;

pub use basis::CostBasis;
pub use builtin::{builtin, builtin_names, default_costs_for};
pub use classes::ClassCosts;
pub use cluster::Cluster;
pub use collective::{Collective, UnknownCollective};
pub use deep::Deep;
pub use file::{FileError, MachineFile, Measured};
pub use lines::{LineCosts, Lines, Place};
pub use machine::{Cache, CacheKind, Machine, MachineError, Proximity, Pu};
pub use messages::Messages;
pub use pairwise::{CostError, CostModel, Matrix, Unit};
pub use profile::{Profile, ProfileEntry, ProfileError, RacedCandidate};
pub use synthetic::{SyntheticError, synthetic};
