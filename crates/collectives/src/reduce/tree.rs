//! A reduction up a tree, in which each parent combines its children's data in the planned order (Smelt §4.2).
//!
//! The order in which values are combined depends on the plan and the root alone, not on the order of arrival: a
//! team gives the same bits each time.

use crate::combine::Combine;
use crate::route::Route;
use corecast_wire::Fabric;

/// Combines all ranks' `sum` into that of `root`. `incoming` is a buffer as long as `sum`. On other ranks `sum`
/// ends as a partial result.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 messages; the latency is that of the tree with `root` as its root.
#[inline(always)]
pub fn tree<F: Fabric>(
    fabric: &mut F,
    route: &Route,
    root: usize,
    sum: &mut [u8],
    incoming: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    for peer in route.inward(root) {
        fabric.receive(peer, incoming)?;
        combine.combine(sum, incoming);
    }
    if let Some(peer) = route.toward(root) {
        fabric.send(peer, sum)?;
    }
    Ok(())
}
