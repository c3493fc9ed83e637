//! Collectives of doubles at any size, timed in one way for all libraries.
//!
//! ```text
//! every rank, for each operation:   touch the input ─ barrier ─ common start ─┬─ operation ─┐
//!                                                                          begin           end
//! latency of the operation          the most of end - begin among the ranks
//! ```
//!
//! The common start is an instant that the root names after the barrier and for which all wait,
//! since ranks leave a barrier one after the other; where ranks share hardware threads, or on
//! request, the barrier alone is the start ([`Start`]). Barriers themselves run back to back.
//!
//! Each library uses a barrier of its own. Inputs and results rotate through [`Task::places`]
//! buffers, and one number of every cache line of an input changes before each operation. The time
//! of two readings of the clock is subtracted. Programs of other libraries measure themselves in
//! the same way: see [`crate::session`].
//!
//! | file | holds |
//! | --- | --- |
//! | `operation.rs` | the operations, and how much each rank gives and gets |
//! | `values.rs` | the inputs, and the naive reference that computes the right results |
//! | `library.rs` | what a library must do to take part: [`Library`], [`Player`] |
//! | `trial.rs` | the loop above, and the check before it |
//! | `conditions.rs` | how operations are started, and whether caches are warm: [`Conditions`] |
//! | `latencies.rs` | latencies from the logs of all ranks: [`RankTimes`] |
//! | `starts.rs` | the choice of the start with which ranks begin closer together on this machine |
//! | `threads.rs` | Corecast's team of threads |
//!
//! A further contestant is one more file with a [`Library`]; a further operation is one more arm in
//! each [`Player`].

mod conditions;
mod latencies;
mod library;
mod starts;
mod task;
mod threads;
mod trial;
mod values;

pub use conditions::{Conditions, Start};
pub use latencies::RankTimes;
pub(crate) use latencies::{Stamp, sum_of_maxima};
pub use library::{Library, Player};
pub use starts::{Choice, ChoiceError, choose};
pub use task::Task;
pub(crate) use threads::SizedRank;
pub(crate) use threads::teams_of;
pub use threads::{TEAMS_MAX, Threads};
pub use trial::Trial;
pub(crate) use trial::{check, series};

/// Bytes of an element: data are doubles.
pub const ELEMENT_BYTES: usize = size_of::<f64>();
