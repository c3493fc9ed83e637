//! A broadcast by a scatter and an allgather: each rank gets a block first, and passes it on.
//!
//! ```text
//!   from rank 0 of 4:   scatter          0 ─► 2 with 2 3,  0 ─► 1,  2 ─► 3
//!                       around a ring    1 ─► 2 ─► 3 with block 1, …, no block to a rank that has it
//! ```

use crate::binomial_tree::{children, parent, subtree};
use crate::pipeline::block;
use crate::transfer::TransferProtocol;
use corecast_wire::Fabric;
use std::ops::Range;

/// Copies the `len` bytes of `root`'s window, whose elements have `element_size` bytes, to the windows of all other
/// ranks. Blocks and ranks are counted from the root.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 transfers of subtrees in ⌈log2 n⌉ steps, then n − 1 steps with a block from each rank to the next one,
/// unless the next one's subtree has it: each rank takes all bytes once. Needs links from r to r ± 2^k.
///
/// # Source
///
/// Van de Geijn; Thakur, Rabenseifner and Gropp 2005 §4.2, and MPICH for what is left out.
pub fn scattered<F: Fabric>(
    fabric: &mut F,
    root: usize,
    window: &mut F::Window<'_>,
    (len, element_size): (usize, usize),
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let n = fabric.size();
    let v = (fabric.rank() + n - root) % n;
    let rank_of = |v: usize| (v + root) % n;
    let blocks = |of: Range<usize>| {
        block(len, element_size, n, of.start).start..block(len, element_size, n, of.end - 1).end
    };
    if v != 0 {
        let into = fabric.view_mut(window, blocks(subtree(v, n)))?;
        protocol.take(fabric, rank_of(parent(v)), into)?;
    }
    for child in children(v, n).rev() {
        protocol.give(fabric, window, rank_of(child), blocks(subtree(child, n)))?;
    }
    let (right, left) = ((v + 1) % n, (v + n - 1) % n);
    for step in 1..n {
        let (given, taken) = ((v + n + 1 - step) % n, (v + n - step) % n);
        if !subtree(right, n).contains(&given) {
            protocol.give(fabric, window, rank_of(right), blocks(given..given + 1))?;
        }
        if !subtree(v, n).contains(&taken) {
            let into = fabric.view_mut(window, blocks(taken..taken + 1))?;
            protocol.take(fabric, rank_of(left), into)?;
        }
    }
    fabric.flush()
}
