//! The progress of a search for a plan, which a watcher sees and by which it may end the search.

use std::ops::ControlFlow;

/// The stage of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// First trees and bounds are made, before the first move.
    Prepare,
    /// The search looks for better trees.
    Improve,
    /// The search proves that there are no better trees.
    Prove,
}

/// The state of a search as its watcher sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The present stage.
    pub stage: Stage,
    /// The latency of the best plan so far, in the model's unit.
    pub latency: f64,
    /// A latency that no plan beats.
    pub lower_bound: f64,
    /// Moves made so far; the work of proofs is counted as the moves that take as long.
    pub moves: u64,
}

/// A function that is called several times a millisecond during a search, and may end it.
pub type Watch<'a> = &'a mut dyn FnMut(&Progress) -> ControlFlow<()>;
