//! A scatter down a binomial tree, in which each part travels together with its neighbours (MPICH;
//! Thakur, Rabenseifner and Gropp 2005 §2).
//!
//! ```text
//!   from the root:  0 ─► 4 with 4 5 6 7
//!                   0 ─► 2 with 2 3       4 ─► 6 with 6 7
//!                   0 ─► 1    2 ─► 3      4 ─► 5    6 ─► 7
//! ```
//!
//! Ranks are counted from the root, so that each subtree is an interval.

use crate::binomial_tree::{children, parent, subtree};
use crate::transfer::TransferProtocol;
use corecast_wire::Fabric;
use std::ops::Range;

/// Copies `part(rank)` of `root`'s `send` to each rank's `recv`. `scratch` has room for the parts
/// of this rank's subtree: `size(ranks)` is the number of bytes of an interval of ranks, counted
/// from the root.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 transfers in ⌈log2 n⌉ steps; a part is moved at most ⌈log2 n⌉ times, and the root copies all
/// of them once. Needs links from r to r ± 2^k.
#[expect(
    clippy::too_many_arguments,
    reason = "two buffers more than the others"
)]
pub fn binomial<F: Fabric>(
    fabric: &mut F,
    root: usize,
    send: &[u8],
    part: impl Fn(usize) -> Range<usize>,
    scratch: &mut F::Window<'_>,
    recv: &mut [u8],
    size: impl Fn(Range<usize>) -> usize,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let v = (rank + n - root) % n;
    let rank_of = |v: usize| (v + root) % n;
    let below = subtree(v, n);
    if v != 0 && below.len() == 1 {
        return protocol.take(fabric, rank_of(parent(v)), recv);
    }
    let all = fabric.view_mut(scratch, 0..size(below.clone()))?;
    if v == 0 {
        recv.copy_from_slice(&send[part(root)]);
        let mut start = recv.len();
        for v in 1..n {
            let part = &send[part(rank_of(v))];
            all[start..start + part.len()].copy_from_slice(part);
            start += part.len();
        }
    } else {
        protocol.take(fabric, rank_of(parent(v)), all)?;
        recv.copy_from_slice(&all[..recv.len()]);
    }
    for child in children(v, n).rev() {
        let start = size(v..child);
        let end = start + size(subtree(child, n));
        protocol.give(fabric, scratch, rank_of(child), start..end)?;
    }
    fabric.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subtrees_are_a_rank_and_its_childrens() {
        for n in 1..40 {
            for v in 0..n {
                let mut end = v + 1;
                for child in children(v, n) {
                    assert_eq!(parent(child), v);
                    assert_eq!(subtree(child, n).start, end, "{v} of {n}");
                    end = subtree(child, n).end;
                }
                assert_eq!(subtree(v, n), v..end);
            }
        }
    }
}
