//! Corecast's pure data: machines, pairwise costs, versioned file formats.
//!
//! **Architecture invariant:** this crate does no I/O, reads no clock and holds no unsafe code.
#![forbid(unsafe_code)]

pub mod machine;
pub mod pairwise;

pub use machine::{Cache, CacheKind, Machine, Pu};
pub use pairwise::{CostError, CostModel, Matrix, Unit};
