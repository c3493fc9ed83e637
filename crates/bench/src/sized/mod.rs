//! Collectives of doubles at any size, timed alike whoever runs them.
//!
//! ```text
//! every rank, for each operation:   touch the input ─ barrier ─ common start ─┬─ operation ─┐
//!                                                                          begin           end
//! latency of the operation          the most of end - begin among the ranks
//! ```
//!
//! The common start is an instant that the root names after the barrier and for which all wait,
//! since ranks leave a barrier one after the other; where ranks share hardware threads the barrier
//! alone must do. Barriers themselves run back to back.
//!
//! Each library uses a barrier of its own. Inputs and results move on through [`Task::places`]
//! buffers, and one number of every cache line of an input changes before each operation. What two
//! looks at the clock take is taken off. Programs of other libraries measure themselves in the same
//! way: see [`crate::session`].
//!
//! | file | holds |
//! | --- | --- |
//! | `operation.rs` | the operations, and who gives and gets how much |
//! | `values.rs` | what is put in, and the naive twin that says what must come out |
//! | `library.rs` | what a library must do to take part: [`Library`], [`Player`] |
//! | `trial.rs` | the loop above, and the check before it |
//! | `threads.rs` | Corecast's team of threads |
//!
//! A further contestant is one more file with a [`Library`]; a further operation one more arm where
//! it is played.

mod library;
mod operation;
mod threads;
mod trial;
mod values;

pub use library::{Library, Player};
pub use operation::{Operation, OperationError, Task};
pub(crate) use threads::Seated;
pub use threads::Threads;
pub(crate) use trial::{LEAD_NS, check, clock_ns, sum_of_maxima, touch};
pub use trial::{Trial, method};

/// Bytes of an element: data are doubles.
pub const ELEMENT_BYTES: usize = size_of::<f64>();
