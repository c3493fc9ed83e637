//! What a search for one operation found.

use crate::shape::Shape;

/// What a search for one operation found.
pub(crate) struct FoundSchedule {
    /// The schedule; never rounds.
    pub(crate) shape: Shape,
    /// No schedule of those that were searched is faster.
    pub(crate) lower_bound: f64,
}
