//! What a watcher of a search for a plan sees, and how it ends the search.

use std::ops::ControlFlow;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Better trees are looked for.
    Improve,
    /// It is proved that there are none.
    Prove,
}

/// What a watcher sees.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// The latency of the best plan so far, in the model's unit.
    pub latency: f64,
    /// No plan is faster than this.
    pub lower_bound: f64,
    /// Moves so far; the work of proofs is counted as the moves that take as long.
    pub moves: u64,
}

/// Looks at a search several times a millisecond, and may end it.
pub type Watch<'a> = &'a mut dyn FnMut(&Progress) -> ControlFlow<()>;
