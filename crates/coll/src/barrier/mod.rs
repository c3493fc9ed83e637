//! Barriers: nobody leaves before everybody has come.

mod dissemination;
mod tree;

pub use dissemination::{Steps, dissemination};
pub use tree::tree;
