//! What there is to know about each algorithm, in one place.
//!
//! Each collective lists its algorithms in the file `algorithm.rs` of its folder, as [`Entry`]s: name, source, what
//! it needs, what it costs, its phases. The same file holds the one function that decides, `choose`: from a
//! [`Request`], the [`TeamTraits`] and what was asked for to an algorithm. Members, operations in flight,
//! `explain`, the tuner, the simulator and docs/algorithms.md all read that.
//!
//! | file | what |
//! | --- | --- |
//! | `entry.rs` | an algorithm's entry, and the macro that makes an enum of entries |
//! | `need.rs` | what an algorithm needs, as something to check and to print |
//! | `request.rs` | what a decision depends on |
//! | `record.rs` | what ran, for tests |

mod entry;
mod need;
pub mod record;
mod request;

pub(crate) use entry::algorithms;
pub use entry::{Entry, UnknownAlgorithm};
pub use need::{ALL_LINES_RANKS_MAX, Need};
pub use request::{Request, TeamTraits};
