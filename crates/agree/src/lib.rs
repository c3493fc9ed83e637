//! Agreement between the cores of one machine.
//!
//! | file | what |
//! | --- | --- |
//! | `dispatch.rs` | what a sequential structure must offer to be replicated |
//! | `linearizability/` | whether a history of calls can be explained by one order |
//! | `replicated/` | a structure with several replicas, read locally and written through a log |

#![forbid(unsafe_code)]

mod dispatch;
pub mod linearizability;
mod replicated;

pub use dispatch::{Dispatch, Footprint};
pub use replicated::{Handle, Options, ReplicaError, Replicated};

/// The example of the readme.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    mod readme {}
}
