//! The known shapes, one file each: a citation, a picture, a pure function.
//!
//! Patterns that need no costs are defined over positions, with the root at position 0. For another
//! root all ranks are rotated: position v is rank `(root + v) mod n`.

mod bad;
mod binary;
mod chain;
mod cluster;
mod fibonacci;
mod knomial;
mod levels;
mod mst;
mod sequential;

pub use bad::bad;
pub(crate) use bad::bad_within;
pub use binary::binary;
pub use chain::chain;
pub use cluster::cluster;
pub use fibonacci::fibonacci;
pub use knomial::knomial;
pub use levels::{LevelPlace, LevelShape, LevelShapes, levels, levels_at};
pub use mst::mst;
pub(crate) use mst::mst_within;
pub use sequential::sequential;

use crate::tree::Tree;

/// Returns the tree whose position v serves the positions `children(v)`, rotated so that `root` is
/// position 0.
fn turned<I: IntoIterator<Item = usize>>(
    n: usize,
    root: usize,
    children: impl Fn(usize) -> I,
) -> Tree {
    assert!(root < n, "root {root} is outside of a team of {n}");
    let rank = |v: usize| (root + v) % n;
    let mut lists = vec![Vec::new(); n];
    for v in 0..n {
        lists[rank(v)] = children(v).into_iter().map(rank).collect();
    }
    Tree::by_construction(root, lists)
}
