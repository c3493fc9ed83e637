//! Corecast's predictions: what a collective costs on a machine that need not be there.
//!
//! The algorithms are those of [`corecast_collectives`], the same source that runs on hardware. This crate has
//! further fabrics for them.
//!
//! - [`drive`] runs any collective over any fabric.
//! - [`machine`], [`memory`] and [`engine`] are a machine in virtual time: caches that keep lines coherent,
//!   networks and memories with queues, and a coroutine per rank.
//! - [`fabric`] lays the wires of a team out on it, and predicts what a call costs.
//! - [`measured`] is such a machine that takes as long for messages as was measured.
//! - [`symbolic`] takes down what an algorithm does to which line, and finds how long that takes at least
//!   and at most.
#![forbid(unsafe_code)]

pub mod drive;
pub mod engine;
pub mod fabric;
pub mod machine;
pub mod measured;
pub mod memory;
pub mod server;
pub mod symbolic;
pub mod trace;

/// Virtual time, in thousandths of a machine's unit. Whole numbers, so that sums do not depend on their
/// order.
pub type VirtualTime = u64;

/// A cost in units of a machine as virtual time.
pub(crate) fn ticks(units: f64) -> VirtualTime {
    (units * 1000.0).round() as VirtualTime
}

/// Virtual time in units of a machine.
pub(crate) fn units(time: VirtualTime) -> f64 {
    time as f64 / 1000.0
}
