//! The fabric of real threads: flags, queues, shared lines and loans, with waits that end when the team fails.
//!
//! Each file uses those below it only.
//!
//! ```text
//! fabric.rs             the operations of a fabric: what a collective calls
//! line_operations.rs    at a line that a group shares
//! loans.rs              how a rank takes what another one lends
//! ends.rs               a rank's ends of its links, how it waits at them, and what ends a wait in vain
//! lines.rs              a rank's ends of shared lines
//! ```

mod ends;
mod fabric;
mod line_operations;
mod lines;
mod loans;

pub use ends::Hardware;
pub(crate) use ends::{CallContext, ContextHistories, Link, NO_LINK};
pub(crate) use lines::{SharedLines, line_ends, shared_bytes};
pub(crate) use loans::COMBINE_BYTES;
