//! The star: the root serves all others in turn (Smelt §2.4).

use super::turned;
use crate::tree::Tree;

/// The root serves everyone, in rank order from itself on.
///
/// ```text
///         0
///      ╱ ╱ ╲ ╲
///     1 2   3 4
/// ```
#[must_use]
pub fn sequential(n: usize, root: usize) -> Tree {
    turned(n, root, |v| if v == 0 { 1..n } else { 0..0 })
}
