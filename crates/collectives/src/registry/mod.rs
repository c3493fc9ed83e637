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
//! | `entry.rs` | an algorithm's entry |
//! | `error.rs` | the error for a name that no algorithm has |
//! | `list.rs` | the macro that makes an enum of entries |
//! | `need.rs` | the conditions of algorithms, to check and to print |
//! | `request.rs` | the inputs of `choose` |
//! | `round_limits.rs` | up to which lengths rounds of messages are the faster way, by a model |
//! | `selection.rs` | an algorithm with the size that it is asked for with |
//! | `size.rs` | the sizes of segments and groups that can be asked for |
//! | `record.rs` | a record of the algorithms that ran, for tests |

mod entry;
mod error;
mod list;
mod need;
pub mod record;
mod request;
mod round_limits;
mod segment_model;
mod selection;
mod size;

pub use entry::Entry;
pub use error::{UnknownAlgorithm, names_near};
pub(crate) use list::algorithms;
pub use need::{ALL_LINES_RANKS_MAX, Need};
pub use request::{Request, TeamTraits};
pub use round_limits::{HALF_BYTES, RoundLimits, SHARED_HALF_BYTES, assumed_half_bytes};
pub use segment_model::SegmentModel;
pub use selection::{Registered, Selection};
pub(crate) use size::sized_names;
pub use size::{SizeKind, Sizes};

#[cfg(test)]
mod tests;
