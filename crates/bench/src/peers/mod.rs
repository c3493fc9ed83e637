//! Barriers that people use today, at their best settings.

mod pthread;
mod std_barrier;

pub use pthread::PthreadBarrier;
pub use std_barrier::StdBarrier;
