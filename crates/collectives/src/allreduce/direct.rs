//! An allreduction in which each rank gives its data to all others and combines all ranks' data itself.
//!
//! ```text
//! rank 0    a ──► all      a ∘ b ∘ c
//! rank 1    b ──► all      a ∘ b ∘ c        one hop
//! rank 2    c ──► all      a ∘ b ∘ c
//! ```
//!
//! No rank waits for what another one makes of the data, only for the data. So where ranks share hardware threads each
//! of them waits for a turn of the others once, and not once on the way up a tree and once down.

use crate::combine::Combine;
use crate::reduction_order::ReductionOrder;
use corecast_wire::{Fabric, copy};

/// Combines all ranks' `data` into each of them, in the order of reduction of [`ReductionOrder`], so that all get the
/// same bits. `incoming` is as long as `data`, and `stack` has [`ReductionOrder::bytes`].
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 messages by each rank, all at the same time, and the operator n − 1 times on each rank. Needs links between all
/// pairs.
pub fn direct<F: Fabric>(
    fabric: &mut F,
    data: &mut [u8],
    incoming: &mut [u8],
    stack: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    for step in 1..n {
        fabric.send((rank + n - step) % n, data)?;
    }
    let mut sum = ReductionOrder::new(stack, data.len(), combine);
    for peer in 0..n {
        sum.open();
        if peer == rank {
            sum.take(0, data);
        } else {
            fabric.receive(peer, incoming)?;
            sum.take(0, incoming);
        }
        sum.close();
    }
    copy::slice(data, sum.result());
    Ok(())
}
