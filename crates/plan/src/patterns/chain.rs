//! The chain: position v serves v + 1 (Nishtala and Yelick, HotPar 2009: the radix-1 k-nomial).

use super::turned;
use crate::tree::Tree;

/// The chain, in which each member serves the next one.
///
/// ```text
///    0 ─► 1 ─► 2 ─► 3
/// ```
#[must_use]
pub fn chain(n: usize, root: usize) -> Tree {
    turned(n, root, |v| Some(v + 1).filter(|&c| c < n))
}
