//! Allreductions: everybody's data combined, for everybody.

mod exchange;
mod tree;

pub use exchange::exchange;
pub use tree::tree;
