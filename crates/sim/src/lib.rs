//! Corecast's predictions: the time of a collective on a machine that need not be there.
//!
//! The algorithms are those of [`corecast_collectives`], the same source that runs on hardware. This crate has further
//! fabrics for them.
//!
//! - [`drive`] runs any collective over any fabric.
//! - [`machine`], [`memory`] and [`engine`] are a machine in virtual time: coherent caches, networks and memories with
//!   queues, and a coroutine per rank.
//! - [`fabric`] lays out the lines of a team on that machine, and predicts the time of a call.
//! - [`cluster`] is a machine of several hosts in virtual time, message by message, with LogGP between hosts.
//! - [`measured`] fits a simulated machine to measured messages.
//! - [`lines`] runs algorithms in CLa's four primitives on that machine.
//! - [`symbolic`] records what an algorithm does to which line, and finds bounds of its time.
//!
//! docs/simulator.md and docs/symbolic.md describe the methods, docs/validation.md compares the predictions with
//! published and measured times; the code of that comparison is in `crates/validation`.
#![forbid(unsafe_code)]

pub mod cluster;
pub mod drive;
pub mod engine;
pub mod fabric;
pub mod lines;
pub mod machine;
pub mod measured;
pub mod memory;
pub mod server;
pub mod symbolic;
pub mod trace;

/// Virtual time, in thousandths of a machine's unit. It is a whole number, so that sums do not depend on their order.
pub type VirtualTime = u64;

/// A cost in units of a machine as virtual time.
pub(crate) fn ticks(units: f64) -> VirtualTime {
    (units * 1000.0).round() as VirtualTime
}

/// Virtual time in units of a machine.
pub(crate) fn units(time: VirtualTime) -> f64 {
    time as f64 / 1000.0
}
