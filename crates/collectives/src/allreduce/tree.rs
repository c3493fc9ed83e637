//! An allreduction by a reduction to the root of the broadcast tree, and a broadcast from there.
//!
//! All ranks get the root's bits, so the results are equal on all ranks.

use crate::combine::Combine;
use crate::route::Route;
use crate::{broadcast, reduce};
use corecast_wire::Fabric;

/// Combines all ranks' `sum` into each of them; see [`reduce::tree`].
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// 2(n − 1) messages; the latency is the sum of both trees'.
#[inline(always)]
pub fn tree<F: Fabric>(
    fabric: &mut F,
    fan_in: &Route,
    fan_out: &Route,
    sum: &mut [u8],
    incoming: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    let root = fan_out.root();
    reduce::tree(fabric, fan_in, root, sum, incoming, combine)?;
    broadcast::tree(fabric, fan_out, root, sum)
}
