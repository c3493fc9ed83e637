//! A broadcast down a tree without copies in between: each member reads its parent's buffer (CLa §4, the multi-line
//! broadcast), and pipeline segments flow through the tree (NUMA clusters §3.1).
//!
//! ```text
//! root      lend 0 | lend 1 | lend 2 …
//! child     fetch 0, lend 0 | fetch 1, lend 1 | …
//! grandchild                  fetch 0         | fetch 1 …
//! ```

use crate::pipeline::PipelineSegments;
use crate::route::Route;
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
/// Every byte is read once per member, in its parent's memory; two lines per pipeline segment and member. The
/// latency is that of the tree for a pipeline segment, and the rest of the pipeline segments one after another
/// through the slowest member.
pub fn lent<F: Fabric>(
    fabric: &mut F,
    route: &Route,
    root: usize,
    window: &mut F::Window<'_>,
    shape: (usize, usize),
    pipeline: PipelineSegments,
) -> Result<(), F::Error> {
    let (parent, children) = (route.toward(root), || route.away(root));
    flow(fabric, (parent, children), window, shape, pipeline)
}

/// Takes one pipeline segment after another from `parent` and lends it to `children`, which are those of any tree.
pub(super) fn flow<F: Fabric, C: Iterator<Item = usize>>(
    fabric: &mut F,
    (parent, children): (Option<usize>, impl Fn() -> C),
    window: &mut F::Window<'_>,
    (len, element_size): (usize, usize),
    pipeline: PipelineSegments,
) -> Result<(), F::Error> {
    for part in pipeline.of(len, element_size) {
        if let Some(parent) = parent {
            let into = fabric.view_mut(window, part.clone())?;
            fabric.fetch(parent, into)?;
        }
        fabric.lend(window, children(), part)?;
    }
    fabric.flush()
}
