//! The shape of a binomial tree whose ranks are counted from the root, so that each subtree is an interval.

use std::ops::Range;

/// The ranks of the subtree of `v`, all counted from the root.
#[inline]
pub(crate) fn subtree(v: usize, n: usize) -> Range<usize> {
    match v {
        0 => 0..n,
        _ => v..(v + (v & v.wrapping_neg())).min(n),
    }
}

/// The parent of `v`, counted from the root. `v` is not the root itself.
#[inline]
pub(crate) fn parent(v: usize) -> usize {
    v & (v - 1)
}

/// The children of `v`, counted from the root, the one with the smallest subtree first.
#[inline]
pub(crate) fn children(v: usize, n: usize) -> impl DoubleEndedIterator<Item = usize> + Clone {
    let bits = match v {
        0 => usize::BITS - (n - 1).leading_zeros(),
        _ => v.trailing_zeros(),
    };
    (0..bits)
        .map(move |bit| v + (1 << bit))
        .filter(move |&child| child < n)
}
