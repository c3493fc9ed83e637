//! The progress of a search, which a watcher sees and by which it may end the search.

use std::ops::ControlFlow;

/// The state of a search as its watcher sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SearchProgress {
    /// The latency of the best tree so far.
    pub latency: f64,
    /// Moves so far.
    pub moves: u64,
    /// Rounds begun so far.
    pub rounds: u64,
}

/// A function that is called every few hundred moves, about every 0.1 ms, and may end the search.
pub type SearchWatch<'a> = &'a mut dyn FnMut(&SearchProgress) -> ControlFlow<()>;
