//! What a watcher of a search sees, and how it ends the search.

use std::ops::ControlFlow;

/// What a watcher sees.
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

/// Looks at a search every few hundred moves, about every 0.1 ms, and may end it.
pub type SearchWatch<'a> = &'a mut dyn FnMut(&SearchProgress) -> ControlFlow<()>;
