//! Races of one team's plans: which plans race, on which hardware threads and against which peers.
//!
//! `corecast bench` and `corecast` without a command run these races.

mod crowd;
mod error;
mod fresh_costs;
mod message;
mod plans;
mod room;
mod timed;

pub use crowd::lay;
pub use error::ContestError;
pub use fresh_costs::{Foreseen, FreshCosts};
pub use message::message;
pub use plans::{Candidate, Contest, NO_PEERS, Race, planned};
pub use room::{available_bytes, check_memory};
pub use timed::Timed;
