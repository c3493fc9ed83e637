//! An allgather in which each rank takes from all others: a part is read in its rank's memory.

use crate::transfer::TransferProtocol;
use corecast_wire::{Fabric, stream};
use std::ops::Range;

/// Copies each rank's `len` bytes of `send` to `part(rank)` of all ranks' `recv`. A rank serves the ranks before it
/// first and takes in the fabric's reading order, so that not all read one rank's memory.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 transfers of a part by each rank, all at the same time. Needs links between all pairs.
#[inline]
pub fn direct<F: Fabric>(
    fabric: &mut F,
    (send, len): (&F::Window<'_>, usize),
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize>,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let others = (1..n).map(|step| (rank + n - step) % n);
    protocol.give_all(fabric, send, others, 0..len)?;
    let all = recv.len();
    stream::copy(&mut recv[part(rank)], fabric.view(send, 0..len), all);
    for peer in fabric.reading_order() {
        protocol.take(fabric, peer, &mut recv[part(peer)])?;
    }
    fabric.flush()
}
