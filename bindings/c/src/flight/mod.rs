//! Operations in flight: several of them at a time, while the member computes.

pub mod moves;
pub mod overlap;
pub mod reductions;
pub mod synced;
