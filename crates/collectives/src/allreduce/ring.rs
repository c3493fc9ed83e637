//! An allreduction twice around a ring: a reduce-scatter, and an allgather (Patarasuk and Yuan
//! 2009).

use crate::allgather;
use crate::combine::Combine;
use crate::pipeline::block;
use crate::transfer::TransferProtocol;
use corecast_wire::Fabric;

/// Combines the `len` bytes of all ranks' windows into each of them, each block in the order of
/// ranks from its own on, around. `incoming` has room for a message.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// 2 (n − 1) transfers of len / n bytes by each rank, in as many steps: the least that can be moved.
/// Needs links from r to r ± 1, and an operator that is commutative.
pub fn ring<F: Fabric>(
    fabric: &mut F,
    window: &mut F::Window<'_>,
    len: usize,
    incoming: &mut [u8],
    combine: &impl Combine,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let (right, left) = ((rank + 1) % n, (rank + n - 1) % n);
    let block = |index: usize| block(len, combine.element_size(), n, index % n);
    for step in 1..n {
        protocol
            .to_combine()
            .give(fabric, window, right, block(rank + n + 1 - step))?;
        let sum = fabric.view_mut(window, block(rank + n - step))?;
        protocol.take_with(fabric, left, sum.len(), incoming, |start, piece| {
            combine.combine_left(&mut sum[start..start + piece.len()], piece);
        })?;
    }
    allgather::ring(fabric, window, block, rank + 1, protocol)
}
