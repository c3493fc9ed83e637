//! Agreement between the cores of one machine.
//!
//! | file | what |
//! | --- | --- |
//! | `dispatch.rs` | what a sequential structure must offer to be replicated |

mod dispatch;

pub use dispatch::{Dispatch, Footprint};
