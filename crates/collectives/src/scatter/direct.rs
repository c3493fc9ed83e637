//! A scatter from the root straight to all ranks: no part is moved twice.

use crate::transfer::TransferProtocol;
use corecast_wire::{Fabric, stream};
use std::ops::Range;

/// Copies `part(rank)` of `root`'s `send` to each rank's `recv`. Other ranks' `send` is ignored.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 transfers of a part, all from the root: with messages it writes them one after another, with
/// loans all others read at the same time. Needs links from the root to all.
#[inline]
pub fn direct<F: Fabric>(
    fabric: &mut F,
    root: usize,
    send: &F::Window<'_>,
    part: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    if rank != root {
        return protocol.take(fabric, root, recv);
    }
    for peer in (1..n).map(|step| (root + step) % n) {
        protocol.give(fabric, send, peer, part(peer))?;
    }
    let all = recv.len();
    stream::copy(recv, fabric.view(send, part(root)), all);
    fabric.flush()
}
