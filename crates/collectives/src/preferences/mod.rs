//! The algorithms that a team is asked to run, and the algorithms that it then runs.
//!
//! | file | holds |
//! | --- | --- |
//! | `algorithms.rs` | the algorithms that are asked for, of every operation |
//! | `by_length.rs`, `by_length/build.rs` | an algorithm for each range of lengths, and how such a table is built |
//! | `by_name.rs` | algorithms by the names that environments and profiles use |
//! | `outline.rs` | the algorithms that a team would choose, without the team |
//! | `parse_bytes.rs` | numbers of bytes as users write them |
//! | `text.rs` | algorithms as a line of text |
//! | `words.rs` | algorithms as words that other processes read |

mod algorithms;
mod by_length;
mod by_name;
mod outline;
mod parse_bytes;
mod text;
mod words;

pub use algorithms::Algorithms;
pub use by_length::{ByLength, ByLengthError, RANGES_MAX};
pub use by_name::{NamedRange, SelectionError, UnknownOperation, edition};
pub use outline::{Chosen, TeamOutline};
pub use parse_bytes::parse_bytes;
pub use text::TextError;

pub use crate::registry::{Selection, UnknownAlgorithm};
