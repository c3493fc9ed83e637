//! A barrier of a reduction and a broadcast without payload (Smelt §4.2.2).
//!
//! ```text
//! barrier = reduce(nothing) to the root; broadcast(nothing) from the root
//! ```
//!
//! The two phases may use different trees; both have the root of the fan-out's tree. The fan-in
//! takes neighbours in the order of its own tree, which a planner has sorted by arrival.

use crate::route::Route;
use corecast_wire::Fabric;

/// Returns when all ranks have come.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// 2(n − 1) notifications in all, one line each; the latency is that of the two trees.
#[inline(always)]
pub fn tree<F: Fabric>(fabric: &mut F, fan_in: &Route, fan_out: &Route) -> Result<(), F::Error> {
    let root = fan_out.root();
    for peer in fan_in.inward(root) {
        fabric.wait(peer)?;
    }
    if let Some(peer) = fan_in.toward(root) {
        fabric.notify(peer)?;
    }
    if let Some(peer) = fan_out.toward(root) {
        fabric.wait(peer)?;
    }
    for peer in fan_out.away(root) {
        fabric.notify(peer)?;
    }
    Ok(())
}
