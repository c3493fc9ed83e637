//! A broadcast along a chain of all ranks: no rank serves two others, so long data flow at the speed of one copy.

use crate::pipeline::PipelineSegments;
use corecast_wire::Fabric;

/// Copies `root`'s window to the windows of all other ranks. `shape` is the window's length and that of its
/// elements, in bytes.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 loans for each pipeline segment; the first one takes n − 1 steps. Needs links from r to r ± 1.
///
/// # Source
///
/// The pipelined chain of Open MPI (Pješivac-Grbović and others 2007 §3).
pub fn chain<F: Fabric>(
    fabric: &mut F,
    root: usize,
    window: &mut F::Window<'_>,
    shape: (usize, usize),
    pipeline: PipelineSegments,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let (left, right) = ((rank + n - 1) % n, (rank + 1) % n);
    let above = (rank != root).then_some(left);
    let below = || (right != root).then_some(right).into_iter();
    super::lent::flow(fabric, (above, below), window, shape, pipeline)
}
