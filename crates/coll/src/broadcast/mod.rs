//! Broadcasts: one rank's data for everybody.

mod tree;

pub use tree::tree;
