//! A broadcast down a tree whose parents serve groups: one line holds the payload for all members
//! of a group (CLa §4.1.2, several groups of children for each parent).

use crate::groups::{GroupRoute, Stop};
use corecast_wire::Fabric;

/// Copies the `payload` of the plan's root, which fits a line, to all ranks.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 reads; a parent writes one line for each group.
///
/// # Source
///
/// CLa §4.1, Figure 12; the lines of groups have flow control of their own, see
/// [`line`](super::line).
#[inline(always)]
pub fn groups<F: Fabric>(
    fabric: &mut F,
    route: &GroupRoute,
    payload: &mut [u8],
) -> Result<(), F::Error> {
    match route.parent {
        Some(Stop::Rank(peer)) => fabric.receive(peer, payload)?,
        Some(Stop::Line(line)) => fabric.read(line, payload)?,
        None => {}
    }
    for &to in &route.groups {
        match to {
            Stop::Rank(peer) => fabric.send(peer, payload)?,
            Stop::Line(line) => fabric.publish(line, payload)?,
        }
    }
    Ok(())
}
