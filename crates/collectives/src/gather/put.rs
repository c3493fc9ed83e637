//! A gather to which each rank writes its own part, where the root wants it.

use crate::transfer::TransferProtocol;
use corecast_wire::{Fabric, stream};
use std::ops::Range;

/// Writes the `len` bytes of `send` to `root`, which calls [`take_puts`]. Lent parts of up to `above` bytes the root copies.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 transfers of a part to a root, which the other ranks copy at the same time. Needs links from all to the root.
#[inline]
pub fn put<F: Fabric>(
    fabric: &mut F,
    root: usize,
    (send, len): (&F::Window<'_>, usize),
    (protocol, above): (TransferProtocol, usize),
) -> Result<(), F::Error> {
    protocol.give(fabric, send, root, 0..len)?;
    if protocol.lends(len) && len > above {
        let all = len.saturating_mul(fabric.size());
        fabric.fill(root, len, |fabric, into| {
            stream::copy(into, fabric.view(send, 0..len), all);
            Ok(())
        })?;
    }
    fabric.flush()
}

/// Has each other rank [`put`] its part to `part(rank)` of `recv`, and copies this one's `len` bytes of `send` there meanwhile. All
/// ranks have the same `protocol` and `above`.
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline]
pub fn take_puts<F: Fabric>(
    fabric: &mut F,
    (send, len): (&F::Window<'_>, usize),
    recv: &mut F::Window<'_>,
    part: impl Fn(usize) -> Range<usize>,
    (protocol, above): (TransferProtocol, usize),
) -> Result<(), F::Error> {
    let (root, n) = (fabric.rank(), fabric.size());
    let others = (1..n).map(|step| (root + step) % n);
    for peer in others.clone() {
        let range = part(peer);
        if protocol.lends(range.len()) && range.len() > above {
            // What the peer lends says that it has come, with as many bytes.
            fabric.dismiss(peer, range.len())?;
            fabric.lend_to_fill(recv, peer, range)?;
        } else {
            let into = fabric.view_mut(recv, range)?;
            protocol.take(fabric, peer, into)?;
        }
    }
    let all = len.saturating_mul(n);
    let mine = fabric.view_mut(recv, part(root))?;
    stream::copy(mine, fabric.view(send, 0..len), all);
    for peer in others {
        fabric.view_mut(recv, part(peer))?;
    }
    Ok(())
}
