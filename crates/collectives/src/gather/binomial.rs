//! A gather up a binomial tree, in which each part travels together with its neighbours: a binomial
//! scatter backwards (MPICH; Thakur, Rabenseifner and Gropp 2005 §2).

use crate::binomial_tree::{children, parent, subtree};
use crate::transfer::TransferProtocol;
use corecast_wire::Fabric;
use std::ops::Range;

/// Copies each rank's `send` to `part(rank)` of `root`'s `recv`. `scratch` has room for the parts
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
    scratch: &mut F::Window<'_>,
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize>,
    size: impl Fn(Range<usize>) -> usize,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let v = (rank + n - root) % n;
    let rank_of = |v: usize| (v + root) % n;
    let len = size(subtree(v, n));
    let all = fabric.view_mut(scratch, 0..len)?;
    all[..send.len()].copy_from_slice(send);
    for child in children(v, n) {
        let start = size(v..child);
        let end = start + size(subtree(child, n));
        protocol.take(fabric, rank_of(child), &mut all[start..end])?;
    }
    if v != 0 {
        protocol.give(fabric, scratch, rank_of(parent(v)), 0..len)?;
        return fabric.flush();
    }
    let mut start = 0;
    for v in 0..n {
        let part = &mut recv[part(rank_of(v))];
        part.copy_from_slice(&all[start..start + part.len()]);
        start += part.len();
    }
    Ok(())
}
