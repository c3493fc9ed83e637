//! Races of one team's plans: which plans race, on which hardware threads and against which peers, and the models'
//! forecasts beside the times.
//!
//! `corecast bench` and `corecast` without a command run these races.

mod crowd;
mod error;
mod forecasts;
mod others;
mod plans;
mod sized;
mod timed;

pub use crowd::lay;
pub use error::ContestError;
pub use forecasts::{Forecasts, Foreseen};
pub use others::{fork_join, message};
pub use plans::{Candidate, Contest, NO_PEERS, Others, Race, planned};
pub use sized::{available_bytes, check_memory, race as race_sized};
pub use timed::Timed;
