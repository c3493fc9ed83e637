//! Agreement between the cores of one machine.
//!
//! | file | what |
//! | --- | --- |
//! | `dispatch.rs` | what a sequential structure must offer to be replicated |
//! | `replicated/` | a structure with several replicas, read locally and written through a log |

#![forbid(unsafe_code)]

mod dispatch;
mod replicated;

pub use dispatch::{Dispatch, Footprint};
pub use replicated::{Handle, Options, ReplicaError, Replicated};
