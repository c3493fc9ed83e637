//! Agreement between the cores of one machine.
//!
//! | file | what |
//! | --- | --- |
//! | `commit/` | two-phase commit: several participants commit a transaction, or none does |
//! | `dispatch.rs` | what a sequential structure must offer to be replicated |
//! | `linearizability/` | whether a history of calls can be explained by one order |
//! | `replicated/` | a structure with several replicas, read locally and written through a log |
//! | `paxos/` | 1Paxos: a log with one active acceptor, whose leader and acceptor can be changed |
//! | `fault.rs` | faults that tests seed |
//! | `model_checker.rs` | all states of a model, for tests |

#![forbid(unsafe_code)]

#[macro_use]
mod fault;

pub mod commit;
mod dispatch;
pub mod linearizability;
#[cfg(test)]
mod model_checker;
pub mod paxos;
mod replicated;

pub use dispatch::{Dispatch, Footprint};
pub use replicated::{
    Chosen, Design, Follower, Handle, Options, Reads, ReplicaError, Replicated, Why,
};

/// The example of the readme.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    mod readme {}
}
