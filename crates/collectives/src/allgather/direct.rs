//! Everybody takes from everybody: each part is read where its rank has it.

use crate::transfer::TransferProtocol;
use corecast_wire::Fabric;
use std::ops::Range;

/// Gives each rank's `len` bytes of `send` to `part(rank)` of everybody's `recv`. Each rank serves, and
/// takes from, the ranks after it first, so that not all read one rank's memory.
///
/// # Errors
///
/// Those of the fabric.
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
    recv[part(rank)].copy_from_slice(fabric.view(send, 0..len));
    for peer in fabric.reading_order() {
        protocol.take(fabric, peer, &mut recv[part(peer)])?;
    }
    fabric.flush()
}
