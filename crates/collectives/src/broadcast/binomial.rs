//! A broadcast down a binomial tree of the ranks, counted from the root. It needs no plan, so every root has a tree
//! that suits it (MPICH; Thakur, Rabenseifner and Gropp 2005 §4.2).

use crate::binomial_tree::{children, parent};
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
/// n − 1 loans for each pipeline segment; the first one takes ⌈log2 n⌉ steps. Needs links from r to r ± 2^k.
pub fn binomial<F: Fabric>(
    fabric: &mut F,
    root: usize,
    window: &mut F::Window<'_>,
    shape: (usize, usize),
    pipeline: PipelineSegments,
) -> Result<(), F::Error> {
    let n = fabric.size();
    let v = (fabric.rank() + n - root) % n;
    let rank_of = |v: usize| (v + root) % n;
    let above = (v != 0).then(|| rank_of(parent(v)));
    let below = || children(v, n).rev().map(rank_of);
    super::lent::flow(fabric, (above, below), window, shape, pipeline)
}
