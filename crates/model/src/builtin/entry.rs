//! One machine of the literature, as the tables of the other files write it down.

use crate::classes::ClassCosts;
use crate::levels::Levels;
use crate::lines::LineCosts;

/// A machine and where its structure and costs were published.
pub(super) struct Builtin {
    pub(super) name: &'static str,
    pub(super) cpu: &'static str,
    pub(super) levels: Levels,
    /// `None` where only the structure is published.
    pub(super) costs: Option<ClassCosts>,
    /// `None` where the paper does not look at lines that several threads share.
    pub(super) lines: Option<LineCosts>,
    pub(super) source: &'static str,
}
