//! The result of a search for one operation.

use crate::shape::Shape;

/// The result of a search for one operation.
pub(crate) struct FoundSchedule {
    /// The schedule that was found; it is never [`Shape::Rounds`].
    pub(crate) shape: Shape,
    /// A bound that no schedule of the searched kinds beats.
    pub(crate) lower_bound: f64,
}
