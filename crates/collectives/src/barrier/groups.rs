//! A barrier of a fan-in and a fan-out over trees whose parents serve groups that share a line: CLa's notification
//! trees (§3.1, §3.2).
//!
//! ```text
//!        0            in:   1, 2 and 3 add to one line, which 0 collects; 4 notifies 0
//!      ╱ │            out:  0 notifies 4, and publishes once for 1, 2 and 3
//!     4  ├─┬─┐
//!        1 2 3
//! ```
//!
//! One group of all others is CLa's *same line* in both directions. Each group has lines of its own (*single-use
//! lines*), so that no rank polls a line that another group writes.

use crate::groups::{GroupRoute, Groups, Stop};
use corecast_plan::groups::Grouped;
use corecast_wire::Fabric;

/// One rank's part of a barrier over groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSchedule {
    fan_in: GroupRoute,
    fan_out: GroupRoute,
}

impl GroupSchedule {
    /// The parts of all ranks. Where fan-in and fan-out have different roots, the root of the fan-in notifies that
    /// of the fan-out.
    ///
    /// # Panics
    ///
    /// If fan-in and fan-out are for teams of different sizes.
    pub fn all(fan_in: &Grouped, fan_out: &Grouped, groups: &mut Groups) -> Vec<Self> {
        assert_eq!(fan_in.len(), fan_out.len(), "two ways of one team");
        let (last, first) = (fan_in.root(), fan_out.root());
        let mut inward = GroupRoute::fan_in(fan_in, groups);
        let mut outward = GroupRoute::fan_out(fan_out, groups);
        if last != first {
            inward[last].parent = Some(Stop::Rank(first));
            outward[first].parent = Some(Stop::Rank(last));
        }
        let schedule = inward.into_iter().zip(outward);
        schedule
            .map(|(fan_in, fan_out)| Self { fan_in, fan_out })
            .collect()
    }
}

/// Returns when all ranks have come.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 additions or notifications in and n − 1 reads out; a parent writes one line for each group,
/// and takes one from it.
///
/// # Source
///
/// CLa §3.1 and §3.2, Equations 6 to 9 and 14 to 18, and 26 for trees of groups.
#[inline(always)]
pub fn groups<F: Fabric>(fabric: &mut F, schedule: &GroupSchedule) -> Result<(), F::Error> {
    for &from in &schedule.fan_in.groups {
        match from {
            Stop::Rank(peer) => fabric.wait(peer)?,
            Stop::Line(line) => fabric.collect(line)?,
        }
    }
    match schedule.fan_in.parent {
        Some(Stop::Rank(peer)) => fabric.notify(peer)?,
        Some(Stop::Line(line)) => fabric.add(line)?,
        None => {}
    }
    match schedule.fan_out.parent {
        Some(Stop::Rank(peer)) => fabric.wait(peer)?,
        Some(Stop::Line(line)) => fabric.read(line, &mut [])?,
        None => {}
    }
    for &to in &schedule.fan_out.groups {
        match to {
            Stop::Rank(peer) => fabric.notify(peer)?,
            Stop::Line(line) => fabric.publish(line, &[])?,
        }
    }
    Ok(())
}
