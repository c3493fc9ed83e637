//! An allgather around a ring: each rank passes on the part that it got last.

use crate::transfer::TransferProtocol;
use corecast_wire::Fabric;
use std::ops::Range;

/// Copies each rank's part to all others' windows. At the beginning a rank has the part with number `first`, and
/// the next rank has the next part.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 transfers of a part by each rank, in n − 1 steps, all ranks at the same time. Needs links from
/// r to r ± 1.
///
/// # Source
///
/// Thakur, Rabenseifner and Gropp 2005 §4.1.
pub fn ring<F: Fabric>(
    fabric: &mut F,
    window: &mut F::Window<'_>,
    part: impl Fn(usize) -> Range<usize>,
    first: usize,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let (right, left) = ((rank + 1) % n, (rank + n - 1) % n);
    for step in 1..n {
        protocol.give(fabric, window, right, part((first + n + 1 - step) % n))?;
        let into = fabric.view_mut(window, part((first + n - step) % n))?;
        protocol.take(fabric, left, into)?;
    }
    fabric.flush()
}
