//! Along the ranks, one after another: each takes what the one before has, and passes on more.

use super::upto::Upto;
use crate::combine::Combine;
use crate::fragments::Fragments;
use crate::transfer::Way;
use corecast_wire::Fabric;

/// Combines the `len` bytes of all ranks `upto` this one into this rank's window, in the brackets
/// ((0 ∘ 1) ∘ 2) ∘ 3 … Buffers: the data's window; scratch with room for two fragments, which follow;
/// room for a message.
///
/// # Errors
///
/// Those of the fabric.
///
/// # Cost
///
/// n − 1 transfers for each fragment, one after another; the fragments follow each other through the
/// ranks. Needs links from r to r ± 1.
pub fn chain<F: Fabric>(
    fabric: &mut F,
    (window, (scratch, room), incoming): (
        &mut F::Window<'_>,
        (&mut F::Window<'_>, usize),
        &mut [u8],
    ),
    len: usize,
    fragments: Fragments,
    upto: Upto,
    combine: &impl Combine,
    way: Way,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let before = rank.checked_sub(1);
    let after = Some(rank + 1).filter(|&rank| rank < n);
    for (index, part) in fragments.of(len, combine.grain()).enumerate() {
        let bytes = part.len();
        let place = index % 2 * room..index % 2 * room + bytes;
        let from_scratch = match (before, upto) {
            (None, _) => false,
            (Some(before), Upto::Own) => {
                let mine = fabric.own(window, part.clone())?;
                way.take_with(fabric, before, bytes, incoming, |start, piece| {
                    combine.combine_left(&mut mine[start..start + piece.len()], piece);
                })?;
                false
            }
            (Some(before), Upto::Before) => {
                // What is passed on, and what is kept.
                let sum = fabric.own(scratch, place.clone())?;
                let mine = fabric.own(window, part.clone())?;
                way.take_with(fabric, before, bytes, incoming, |start, piece| {
                    let range = start..start + piece.len();
                    let mine = &mut mine[range.clone()];
                    if after.is_some() {
                        combine.combine_into(&mut sum[range], piece, mine);
                    }
                    mine.copy_from_slice(piece);
                })?;
                true
            }
        };
        match after {
            None => {}
            Some(after) if from_scratch => way.give(fabric, scratch, after, place)?,
            Some(after) => way.give(fabric, window, after, part)?,
        }
    }
    fabric.settle()
}
