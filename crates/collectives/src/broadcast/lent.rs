//! Down a tree without copies in between: each member reads its parent's buffer (CLa §4, the
//! multi-line broadcast), and fragments flow through the tree (NUMA clusters §3.1).
//!
//! ```text
//! root      lend 0 | lend 1 | lend 2 …
//! child     fetch 0, lend 0 | fetch 1, lend 1 | …
//! grandchild                  fetch 0         | fetch 1 …
//! ```

use crate::fragments::Fragments;
use crate::route::Route;
use corecast_wire::Fabric;

/// Gives the `len` bytes of `root`'s window to everybody's.
///
/// # Errors
///
/// Those of the fabric.
///
/// # Cost
///
/// Every byte is read once per member, where its parent has it; two lines per fragment and member.
/// The latency is that of the tree for a fragment, and the rest of the fragments one after another
/// through the slowest member.
pub fn lent<F: Fabric>(
    fabric: &mut F,
    route: &Route,
    root: usize,
    window: &mut F::Window<'_>,
    shape: (usize, usize),
    fragments: Fragments,
) -> Result<(), F::Error> {
    let (parent, children) = (route.toward(root), || route.away(root));
    flow(fabric, (parent, children), window, shape, fragments)
}

/// Fragment by fragment from `parent` to `children`, those of any tree.
pub(super) fn flow<F: Fabric, C: Iterator<Item = usize>>(
    fabric: &mut F,
    (parent, children): (Option<usize>, impl Fn() -> C),
    window: &mut F::Window<'_>,
    (len, grain): (usize, usize),
    fragments: Fragments,
) -> Result<(), F::Error> {
    for part in fragments.of(len, grain) {
        if let Some(parent) = parent {
            let into = fabric.own(window, part.clone())?;
            fabric.fetch(parent, into)?;
        }
        fabric.lend(window, children(), part)?;
    }
    fabric.settle()
}
