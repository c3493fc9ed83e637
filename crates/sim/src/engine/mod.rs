//! Virtual time: one coroutine per rank, and events in the order of their times.
//!
//! A rank runs until an event is due that is earlier than its own clock; then it is suspended, and the earliest event
//! is handled. All operations therefore happen in the order of virtual time, and two at the same time in the order in
//! which they were requested. The same run gives the same result, bit by bit, on every host.
//!
//! ```text
//!   rank      load, hits: clock + 2        load, misses: a request, and the rank is suspended
//!   events    ── arrives at its agent ──► states change, servers are booked ──► done: the rank continues
//! ```
//!
//! A rank that polls causes no events: it sleeps until its copy of the line is invalidated, and then loads the line
//! again.

mod cpu;
mod events;
mod outcome;
mod run;
mod stores;
mod world;

pub use cpu::Cpu;
pub use outcome::{RunOptions, RunOutcome, ServerUse, SimError};
pub use run::{Setup, run};
