//! The binary tree: position v serves 2v + 1 and 2v + 2 (Smelt §2.4).

use super::turned;
use crate::tree::Tree;

/// The balanced binary tree.
///
/// ```text
///         0
///       ╱   ╲
///      1     2
///     ╱ ╲   ╱ ╲
///    3   4 5   6
/// ```
///
/// # Panics
///
/// When the root is outside of the team. The other patterns panic then, too.
#[must_use]
pub fn binary(n: usize, root: usize) -> Tree {
    turned(n, root, |v| (2 * v + 1..=2 * v + 2).filter(move |&c| c < n))
}
