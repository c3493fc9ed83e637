//! A reduce-scatter in which each rank takes all others' copies of its block, and combines them.

use crate::combine::Combine;
use crate::reduction_order::ReductionOrder;
use crate::transfer::TransferProtocol;
use corecast_wire::{Fabric, copy};
use std::ops::Range;

/// Combines `block(rank)` of all ranks' `send` into each rank's `recv`, in the order of ranks from its own on,
/// around; with two ranks in rank order. `incoming` has room for a message.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 transfers of a block by each rank, all at the same time: the least that can be moved. Needs
/// links between all pairs, and an operator that is commutative or two ranks.
#[inline]
pub fn owners<F: Fabric>(
    fabric: &mut F,
    send: &F::Window<'_>,
    block: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    incoming: &mut [u8],
    combine: &impl Combine,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    for owner in (1..n).map(|step| (rank + n - step) % n) {
        protocol.give(fabric, send, owner, block(owner))?;
    }
    let mine = fabric.view(send, block(rank));
    if n == 1 {
        copy::slice(recv, mine);
    }
    for step in 1..n {
        let peer = (rank + step) % n;
        protocol.take_with(fabric, peer, mine.len(), incoming, |start, piece| {
            let range = start..start + piece.len();
            let (sum, mine) = (&mut recv[range.clone()], &mine[range]);
            match step {
                1 if peer < rank => combine.combine_into(sum, piece, mine),
                1 => combine.combine_into(sum, mine, piece),
                _ => combine.combine(sum, piece),
            }
        })?;
    }
    fabric.flush()
}

/// Bytes of a block that [`owners_ordered`] combines at a time: the whole stack of such pieces fits the
/// second-level cache.
pub const PIECE_BYTES: usize = 16 * 1024;

/// Combines as [`owners`] does, but in rank order and with the order of reduction of [`ReductionOrder`], `piece`
/// bytes at a time. Buffers: room for a message, and [`ReductionOrder::bytes`].
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 transfers by each rank for every piece of a block. Half of what comes in is copied before it
/// is combined. Needs links between all pairs.
pub fn owners_ordered<F: Fabric>(
    fabric: &mut F,
    send: &F::Window<'_>,
    block: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    (incoming, stack): (&mut [u8], &mut [u8]),
    combine: &impl Combine,
    (protocol, piece): (TransferProtocol, usize),
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let part = |owner: usize, start: usize| {
        let block = block(owner);
        let at = |offset: usize| block.start + offset.min(block.len());
        (start == 0 || start < block.len()).then(|| at(start)..at(start + piece))
    };
    let longest = (0..n).map(|owner| block(owner).len()).max().unwrap_or(0);
    for start in (0..longest.max(1)).step_by(piece) {
        // A piece is lent after the piece before was combined here, so at most two are lent at a time, and no rank
        // waits for room while others wait for it.
        for owner in (1..n).map(|step| (rank + n - step) % n) {
            if let Some(part) = part(owner, start) {
                protocol.give(fabric, send, owner, part)?;
            }
        }
        let Some(mine) = part(rank, start) else {
            continue;
        };
        let mut sum = ReductionOrder::new(stack, mine.len(), combine);
        for peer in 0..n {
            sum.open();
            if peer == rank {
                sum.take(0, fabric.view(send, mine.clone()));
            } else {
                protocol.take_with(fabric, peer, mine.len(), incoming, |at, bytes| {
                    sum.take(at, bytes);
                })?;
            }
            sum.close();
        }
        copy::slice(&mut recv[start..start + mine.len()], sum.result());
    }
    fabric.flush()
}
