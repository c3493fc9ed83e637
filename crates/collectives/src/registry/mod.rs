//! The registry: the descriptions of all algorithms, in one place.
//!
//! Each collective lists its algorithms in the file `algorithm.rs` of its folder, as [`Entry`]s: name, source, what
//! it needs, what it costs, its phases. The file also holds the one function that decides, `choose`: it takes the
//! algorithm that was asked for, a [`Request`] and the [`TeamTraits`] (for barriers the plan), and returns an
//! algorithm. Members, operations in flight, `explain`, the tuner, the simulator and docs/algorithms.md all use
//! entries and `choose`.
//!
//! | file | what |
//! | --- | --- |
//! | `entry.rs` | an algorithm's entry, and the macro that makes an enum of entries |
//! | `error.rs` | the error for a name that no algorithm has |
//! | `need.rs` | the conditions of algorithms, to check and to print |
//! | `request.rs` | the inputs of `choose` |
//! | `record.rs` | a record of the algorithms that ran, for tests |

mod entry;
mod error;
mod need;
pub mod record;
mod request;

pub use entry::Entry;
pub(crate) use entry::algorithms;
pub use error::UnknownAlgorithm;
pub use need::{ALL_LINES_RANKS_MAX, Need};
pub use request::{Request, TeamTraits};
