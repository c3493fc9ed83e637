//! One line to which all add and that all watch: whoever comes last lets everybody go.
//!
//! No rank has a part of its own. Where ranks share cores that is worth more than the lines that it takes: a
//! barrier over a tree waits for the turns of those who collect and pass on, this one for the last rank alone.

use corecast_wire::Fabric;

/// Comes, and leaves when everybody has come. `line` is this rank's number of the line; `None` alone.
///
/// # Errors
///
/// Those of the fabric.
///
/// # Cost
///
/// n additions to one line, each of which takes it from those who watch it: with k ranks that run at the same time up
/// to k reads each, so k² transfers where no cores are shared. After the last arrival one read each.
///
/// # Source
///
/// The centralised barrier of Mellor-Crummey and Scott (1991) with a count that goes on instead of a sense that is
/// reversed; in and out over the same line as CLa §3.1 counts it.
#[inline(always)]
pub fn counter<F: Fabric>(fabric: &mut F, line: Option<usize>) -> Result<(), F::Error> {
    match line {
        Some(line) => fabric.arrive_and_wait(line),
        None => Ok(()),
    }
}
