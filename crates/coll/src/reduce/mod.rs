//! Reductions: everybody's data combined, for one rank.

mod tree;

pub use tree::tree;
