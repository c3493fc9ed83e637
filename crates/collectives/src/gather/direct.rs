//! A gather from all ranks straight to the root: no part is moved twice.

use crate::transfer::TransferProtocol;
use corecast_wire::{Fabric, stream};
use std::ops::Range;

/// Copies each rank's `len` bytes of `send` to `part(rank)` of `root`'s `recv`. Other ranks' `recv` is ignored.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 transfers of a part, which the root takes one after another. Needs links from all to the root.
#[inline]
pub fn direct<F: Fabric>(
    fabric: &mut F,
    root: usize,
    (send, len): (&F::Window<'_>, usize),
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize>,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    if rank != root {
        protocol.give(fabric, send, root, 0..len)?;
        return fabric.flush();
    }
    let all = recv.len();
    stream::copy(&mut recv[part(root)], fabric.view(send, 0..len), all);
    for peer in (1..n).map(|step| (root + step) % n) {
        protocol.take(fabric, peer, &mut recv[part(peer)])?;
    }
    Ok(())
}
