//! Runs any collective of [`corecast_collectives`] over any fabric, and computes the results that it must give.
//!
//! A [`Call`] names a collective, its algorithm, its root and its size; a [`Job`] is the call with the schedules of
//! all ranks, as a team has them. Each rank makes an [`OpContext`](corecast_collectives::OpContext) over its fabric
//! and runs the collective's own `run`, which is the code that runs on hardware. Nothing here knows how an algorithm
//! works, or when it is chosen.
//!
//! ```text
//! Call + Plans ──► Job ──► groups()                     lines for the fabric
//!                   ├────► context(fabric)              on each rank, once
//!                   ├────► run(&mut context, combine)   on each rank, as often as wanted
//!                   └────► reference()                       what that must have given
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `call.rs` | a call, and why it cannot be made |
//! | `team.rs` | the traits of a simulated team, and the algorithms that it chooses |
//! | `job.rs` | a call that is ready to run |
//! | `data.rs` | the data that each rank contributes |
//! | `combine.rs` | the operator of reductions |
//! | `reference.rs` | the expected results of a call, by one loop over all ranks |

mod call;
mod combine;
mod data;
mod job;
mod reference;
mod team;

pub use call::{Call, CallError, algorithms, collective};
pub use combine::Bytes;
pub use corecast_collectives::Collective;
pub use job::Job;
pub use reference::Reference;
pub use team::usual;
