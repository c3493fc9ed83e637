//! Whether a history of calls on shared state can be explained by one order: linearizability (Herlihy and Wing, 1990).
//!
//! A history is what clients saw: when each call began and ended, what it asked for and what it was answered. It is
//! *linearizable* if each call can be given one instant between its beginning and its end such that the calls, in the
//! order of these instants, are answered as a sequential [`Model`] answers. A call that never returned may have taken effect at
//! any time after its beginning, or never.
//!
//! | file | what |
//! | --- | --- |
//! | `search.rs` | the search for such an order: [`check`] |
//! | `register.rs` | a model: keys that are set, read, compared and deleted |
//! | `history.rs` | histories as JSON lines, and a recorder for threads |
//!
//! The search is that of Wing and Gong (1993) with Lowe's memory of what was seen (2017), on each part of the history by itself where
//! the model says how it falls into parts, such as keys: a history is linearizable if and only if each part is.

mod history;
mod register;
mod search;

pub use history::{HistoryError, Recorder, read_history, write_history};
pub use register::{Registers, Request};
pub use search::{Call, Counterexample, Model, check};
