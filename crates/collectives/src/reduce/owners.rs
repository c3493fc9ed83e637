//! A reduction in which each rank owns a block: it combines all ranks' copies of the block, where the root has its own.
//!
//! ```text
//!               block 0   block 1   block 2
//! rank 0, root  ●  ◄──────lends─────  lends ──►       each reads the others' copies of its block, and combines
//! rank 1        lends ──►                             them into the root's, all at the same time
//! rank 2        lends ──►  lends ──►
//! ```

use crate::combine::Combine;
use crate::pipeline::block;
use corecast_wire::Fabric;

/// Combines the `len` bytes of all ranks' windows into `root`'s; the others' stay as they are. Each block is combined in the
/// order of ranks from the root on, around.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// (n − 1)² loans of len / n bytes that are read, and n − 1 that are filled, by all ranks at the same time. Needs links between
/// all pairs.
pub fn owners<F: Fabric>(
    fabric: &mut F,
    root: usize,
    window: &mut F::Window<'_>,
    len: usize,
    combine: &impl Combine,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let block = |owner| block(len, combine.element_size(), n, owner);
    let givers = || (1..n).map(|step| (root + step) % n);
    let mine = block(rank);
    if rank == root {
        for owner in givers() {
            fabric.lend_to_fill(window, owner, block(owner))?;
        }
        let sum = fabric.view_mut(window, mine)?;
        for peer in givers() {
            fabric.borrow(peer, sum.len(), |start, piece| {
                combine.combine(&mut sum[start..start + piece.len()], piece);
            })?;
        }
        for owner in givers() {
            fabric.view_mut(window, block(owner))?;
        }
        // Empty blocks are returned, too.
        return fabric.flush();
    }
    for step in 1..n {
        let owner = (rank + step) % n;
        fabric.lend_to_combine(window, [owner], block(owner))?;
    }
    for peer in givers().filter(|&peer| peer != rank) {
        fabric.await_loan(peer, mine.len())?;
    }
    fabric.fill(root, mine.len(), |fabric, sum| {
        for peer in givers() {
            if peer == rank {
                combine.combine(sum, fabric.view(window, mine.clone()));
                continue;
            }
            fabric.borrow(peer, sum.len(), |start, piece| {
                combine.combine(&mut sum[start..start + piece.len()], piece);
            })?;
        }
        Ok(())
    })?;
    fabric.flush()
}
