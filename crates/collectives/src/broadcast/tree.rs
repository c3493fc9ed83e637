//! A broadcast down a tree, in which each parent serves its children in the planned order (Smelt
//! §3.1).
//!
//! Links are reliable and ordered, and members call operations in one order, so all members get all
//! broadcasts in the same order, whatever their roots: atomic broadcast (Smelt §4.2.2).

use crate::route::Route;
use corecast_wire::Fabric;

/// Copies `root`'s `payload` to all ranks.
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
    payload: &mut [u8],
) -> Result<(), F::Error> {
    if let Some(peer) = route.toward(root) {
        fabric.receive(peer, payload)?;
    }
    for peer in route.away(root) {
        fabric.send(peer, payload)?;
    }
    Ok(())
}
