//! An all-to-all straight from each rank to each other, in an order in which no two ranks write to
//! a third in the same step.

use crate::transfer::TransferProtocol;
use corecast_wire::{Fabric, copy, stream};
use std::ops::Range;

/// Copies `give(peer)` of each rank's `send` to each `peer`, which gets it at `take(rank)` of its
/// `recv`.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 transfers of a part by each rank, all at the same time. Needs links between all pairs.
///
/// # Source
///
/// The shifted order: Thakur, Rabenseifner and Gropp 2005 §4.4.
#[inline]
pub fn direct<F: Fabric>(
    fabric: &mut F,
    send: &F::Window<'_>,
    give: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    take: impl Fn(usize) -> Range<usize>,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let rank = fabric.rank();
    for peer in others(fabric) {
        protocol.give(fabric, send, peer, give(peer))?;
    }
    let all = recv.len();
    stream::copy(&mut recv[take(rank)], fabric.view(send, give(rank)), all);
    take_from_others(fabric, recv, take, protocol)?;
    fabric.flush()
}

/// [`direct`] where each part that this rank gives to others fits a message. What is sent and not lent needs no window, which
/// takes a third of the time of a short exchange.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// That of [`direct`].
#[inline]
pub fn direct_in_messages<F: Fabric>(
    fabric: &mut F,
    send: &[u8],
    give: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    take: impl Fn(usize) -> Range<usize>,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let rank = fabric.rank();
    for peer in others(fabric) {
        fabric.send(peer, &send[give(peer)])?;
    }
    copy::slice(&mut recv[take(rank)], &send[give(rank)]);
    take_from_others(fabric, recv, take, protocol)
}

/// The other ranks, in the order in which this one gives to them.
#[inline]
pub(super) fn others<F: Fabric>(fabric: &F) -> impl Iterator<Item = usize> + use<F> {
    let (rank, n) = (fabric.rank(), fabric.size());
    (1..n).map(move |step| (rank + step) % n)
}

/// Takes the parts of the other ranks, in the order in which they give them.
#[inline]
fn take_from_others<F: Fabric>(
    fabric: &mut F,
    recv: &mut [u8],
    take: impl Fn(usize) -> Range<usize>,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    for peer in (1..n).map(|step| (rank + n - step) % n) {
        protocol.take(fabric, peer, &mut recv[take(peer)])?;
    }
    Ok(())
}
