//! Virtual time: one coroutine per rank, and events in the order of their times.
//!
//! A rank runs until something is due that is earlier than its own clock; then it stands still, and the
//! earliest event is next. So all operations happen in the order of virtual time, and of two at the same time
//! the one that was asked for first: the same run gives the same, bit by bit, on every machine.
//!
//! ```text
//!   rank      load, hits: clock + 2        load, misses: a request, and the rank stands still
//!   events    ── arrives at its agent ──► states change, servers are booked ──► done: the rank goes on
//! ```
//!
//! A rank that polls costs no events: it sleeps until its copy of the line is invalidated, and looks again.

mod cpu;
mod events;
mod outcome;
mod run;
mod stores;
mod world;

pub use cpu::Cpu;
pub use outcome::{RunOptions, RunOutcome, ServerUse, SimError};
pub use run::{Setup, run};
