//! A barrier at one line, to which all ranks add and which all watch: the last arrival releases all.
//!
//! All ranks do the same work. Where ranks share cores this saves more than the contended line costs: a barrier
//! over a tree waits until each parent has had its turn on a core, this one for the last rank alone.

use corecast_wire::Fabric;

/// Returns when all ranks have come. `line` is this rank's number of the line; `None` in a team of one.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n additions to one line, each of which takes the line from the ranks that watch it. With k ranks running at the
/// same time each addition causes up to k reads, so there are up to k² transfers. After the last arrival each rank
/// reads once.
///
/// # Source
///
/// The centralised barrier of Mellor-Crummey and Scott (1991) with a counter that keeps counting instead of a sense
/// that is reversed; in and out over the same line as CLa §3.1 counts it.
#[inline(always)]
pub fn counter<F: Fabric>(fabric: &mut F, line: Option<usize>) -> Result<(), F::Error> {
    match line {
        Some(line) => fabric.arrive_and_wait(line),
        None => Ok(()),
    }
}
