//! A reduce-scatter by recursive halving: every step halves the blocks that a rank still sums up.
//!
//! ```text
//!   4 ranks, blocks that a rank still sums up:
//!   rank 0   0 1 2 3 ─ with 2 ─► 0 1 ─ with 1 ─► 0
//!   rank 3   0 1 2 3 ─ with 1 ─► 2 3 ─ with 2 ─► 3
//! ```

use crate::combine::Combine;
use crate::transfer::TransferProtocol;
use corecast_wire::{Fabric, copy};
use std::ops::Range;

/// Combines `block(rank)` of all ranks' `send` into each rank's `recv`; blocks lie in rank order, side by side.
/// Buffers: scratch as long as `send`, and room for a message.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// log2 n transfers by each rank, of n / 2, n / 4, …, 1 blocks. Needs a power of two of ranks, links
/// from r to r ^ 2^k, and an operator that is commutative.
///
/// # Source
///
/// Thakur, Rabenseifner and Gropp 2005 §4.3.
pub fn halving<F: Fabric>(
    fabric: &mut F,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    (scratch, incoming): (&mut F::Window<'_>, &mut [u8]),
    combine: &impl Combine,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    debug_assert!(n.is_power_of_two(), "{n} ranks");
    let blocks = |owners: Range<usize>| block(owners.start).start..block(owners.end - 1).end;
    let all = fabric.view_mut(scratch, 0..send.len())?;
    copy::slice(all, send);
    let mut left = 0..n;
    while left.len() > 1 {
        let distance = left.len() / 2;
        let (peer, middle) = (rank ^ distance, left.start + distance);
        let (mine, theirs) = match rank & distance {
            0 => (left.start..middle, middle..left.end),
            _ => (middle..left.end, left.start..middle),
        };
        protocol.give(fabric, scratch, peer, blocks(theirs))?;
        let sum = fabric.view_mut(scratch, blocks(mine.clone()))?;
        protocol.take_with(fabric, peer, sum.len(), incoming, |start, piece| {
            let sum = &mut sum[start..start + piece.len()];
            if peer < rank {
                combine.combine_left(sum, piece);
            } else {
                combine.combine(sum, piece);
            }
        })?;
        left = mine;
    }
    copy::slice(recv, fabric.view(scratch, blocks(left)));
    fabric.flush()
}
