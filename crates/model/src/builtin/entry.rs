//! The form in which the other files write down a machine of the literature.

use crate::classes::ClassCosts;
use crate::levels::Levels;
use crate::lines::LineCosts;

/// A machine and where its structure and costs were published.
pub(super) struct Builtin {
    pub(super) name: &'static str,
    pub(super) cpu: &'static str,
    pub(super) levels: Levels,
    /// The costs by class; `None` where only the structure is published.
    pub(super) costs: Option<ClassCosts>,
    /// The costs of shared lines; `None` where the paper has none.
    pub(super) lines: Option<LineCosts>,
    pub(super) source: &'static str,
}
