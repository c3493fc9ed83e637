//! A reduce-scatter around a ring: each block passes all ranks, which combine their data into it, and ends at its
//! owner.

use crate::combine::Combine;
use crate::transfer::TransferProtocol;
use corecast_wire::{Fabric, copy};
use std::ops::Range;

/// Combines `block(rank)` of all ranks' `send` into each rank's `recv`, in the order of ranks from the next one on,
/// around. Buffers: scratch for two of the longest blocks and the bytes of one, and room for a message.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 transfers of a block by each rank, in n − 1 steps, all ranks at the same time. Needs links from
/// r to r ± 1, and an operator that is commutative.
///
/// # Source
///
/// Thakur, Rabenseifner and Gropp 2005 §4.3; the first half of the ring of Patarasuk and Yuan 2009.
pub fn ring<F: Fabric>(
    fabric: &mut F,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    ((scratch, room), incoming): ((&mut F::Window<'_>, usize), &mut [u8]),
    combine: &impl Combine,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let (right, left) = ((rank + 1) % n, (rank + n - 1) % n);
    if n == 1 {
        copy::slice(recv, &send[block(0)]);
        return Ok(());
    }
    // Each step writes to the half of scratch that the next rank has returned.
    let half = |step: usize, len: usize| step % 2 * room..step % 2 * room + len;
    let first = &send[block(left)];
    copy::slice(fabric.view_mut(scratch, half(0, first.len()))?, first);
    for step in 1..n {
        let given = block((rank + n - step) % n).len();
        protocol.give(fabric, scratch, right, half(step - 1, given))?;
        let owner = (rank + 2 * n - step - 1) % n;
        let mine = &send[block(owner)];
        let sum = match step == n - 1 {
            true => &mut *recv,
            false => fabric.view_mut(scratch, half(step, mine.len()))?,
        };
        protocol.take_with(fabric, left, mine.len(), incoming, |start, piece| {
            let range = start..start + piece.len();
            combine.combine_into(&mut sum[range.clone()], piece, &mine[range]);
        })?;
    }
    fabric.flush()
}
