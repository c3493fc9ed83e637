//! A team that learns while it runs: its first calls of an operation at a length race the algorithms that can run it, and
//! later calls use the fastest one.
//!
//! | part | holds |
//! | --- | --- |
//! | `calls.rs` | which algorithm a call runs, and the exchange of times |
//! | [`Learner`] | a rank's races and what they have found, by operation and class of lengths |
//! | [`Race`] | the race of one operation at one class of lengths, or of whatever else is called over and over |
//!
//! Lengths up to 64 bytes are a class, and so are longer ones up to each power of two. All ranks call the same operations in
//! the same order, so they take the same turns. When a stage of a race is over they exchange its times in an allreduction of at
//! most 128 bytes, within the operation that ends it: all draw the same conclusion, and no rank runs another algorithm than its
//! peers.
//!
//! What the program, the environment or a tuning asks for is not raced, and neither are operations whose parts differ in
//! length, of which no rank knows all, operations in flight, and barriers, whose lines are laid out for one algorithm.

mod calls;
pub(crate) mod learner;
mod race;
#[cfg(test)]
mod tests;

pub use learner::{Learned, Learner};
pub use race::{Race, Won};
