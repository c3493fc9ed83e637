//! An allreduction in which each rank owns a block: it combines all ranks' copies of the block, and then all others
//! read the result there.
//!
//! ```text
//!             block 0   block 1   block 2
//! rank 0      ●  ◄──────lends─────  lends ──►         1. read the others' copies of my block
//! rank 1      lends ──►  ●                            2. lend my block to all
//! rank 2      lends ──►  lends ──►  ●                 3. read theirs
//! ```
//!
//! The least that an allreduction can move: (n − 1) / n of the data in each of the two phases, by
//! all ranks at once, with no copy in between.

use crate::combine::Combine;
use crate::pipeline::block;
use crate::reduction_order::ReductionOrder;
use corecast_wire::{Fabric, copy};

/// Combines the `len` bytes of all ranks' windows into each of them. A rank combines in the order of ranks from its
/// own on, around; with two ranks in rank order. Each block is combined by one rank, so all get the same bits.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// Each rank reads 2 (n − 1) / n of the bytes from others, in 2 (n − 1) loans of len / n bytes.
/// Needs links between all pairs.
pub fn owners<F: Fabric>(
    fabric: &mut F,
    window: &mut F::Window<'_>,
    len: usize,
    combine: &impl Combine,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let block = |owner| block(len, combine.element_size(), n, owner);
    let others = || (1..n).map(|step| (rank + step) % n);
    for owner in others() {
        fabric.lend_to_combine(window, [owner], block(owner))?;
    }
    let mine = fabric.view_mut(window, block(rank))?;
    for peer in others() {
        fabric.borrow(peer, mine.len(), |start, piece| {
            let mine = &mut mine[start..start + piece.len()];
            if peer < rank && n == 2 {
                combine.combine_left(mine, piece);
            } else {
                combine.combine(mine, piece);
            }
        })?;
    }
    fabric.lend(window, others(), block(rank))?;
    for owner in fabric.reading_order() {
        let into = fabric.view_mut(window, block(owner))?;
        fabric.fetch(owner, into)?;
    }
    fabric.flush()
}

/// Combines as [`owners`] does, but in rank order and with the order of reduction of [`ReductionOrder`], `piece`
/// bytes of each block at a time. `stack` has [`ReductionOrder::bytes`].
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// The bytes of [`owners`], in 2 (n − 1) loans for every piece; half of what comes in is copied before it is
/// combined, and the results once more.
pub fn owners_ordered<F: Fabric>(
    fabric: &mut F,
    window: &mut F::Window<'_>,
    len: usize,
    stack: &mut [u8],
    combine: &impl Combine,
    piece: usize,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let others = || (1..n).map(|step| (rank + step) % n);
    let longest = block(len, combine.element_size(), n, 0).len();
    for start in (0..longest.max(1)).step_by(piece) {
        // A rank lends a piece only after it has taken all of the piece before.
        let part = |owner| {
            let block = block(len, combine.element_size(), n, owner);
            (block.start + start).min(block.end)..(block.start + start + piece).min(block.end)
        };
        for owner in others() {
            fabric.lend_to_combine(window, [owner], part(owner))?;
        }
        let mine = part(rank);
        let mut sum = ReductionOrder::new(stack, mine.len(), combine);
        for peer in 0..n {
            sum.open();
            if peer == rank {
                sum.take(0, fabric.view(window, mine.clone()));
            } else {
                fabric.borrow(peer, mine.len(), |at, bytes| sum.take(at, bytes))?;
            }
            sum.close();
        }
        copy::slice(fabric.view_mut(window, mine.clone())?, sum.result());
        fabric.lend(window, others(), mine)?;
        for owner in fabric.reading_order() {
            let into = fabric.view_mut(window, part(owner))?;
            fabric.fetch(owner, into)?;
        }
    }
    fabric.flush()
}
