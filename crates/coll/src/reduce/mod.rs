//! Reductions: everybody's data combined, for one rank.

mod lent;
mod ordered;
mod tree;

pub use lent::{SCRATCH_FRAGMENTS, lent};
pub use ordered::{ordered, ordered_lent, ordered_tree};
pub use tree::tree;

use crate::algorithms::named;
use crate::combine::Combine;
use crate::failure::Failure;
use crate::fragments::Fragments;
use crate::lane::Lane;
use corecast_wire::{Fabric, bulk};

named! {
    /// How a reduction is done. Operators that need the order of ranks, and deterministic teams, take
    /// [`ordered`] and [`ordered_lent`] for the same sizes.
    pub enum Algorithm: "reduce" {
        /// [`tree`], in messages: the payload in the flag's line.
        Messages = "messages",
        /// [`lent`], in one piece.
        Whole = "whole",
        /// [`lent`], in fragments of [`Fragments::FIXED`].
        Fixed = "fixed",
        /// [`lent`], in fragments of [`Fragments::DYNAMIC`].
        Dynamic = "dynamic",
    }
}

#[inline(always)]
pub(crate) fn run(
    lane: &mut Lane,
    root: usize,
    data: &mut [u8],
    combine: &impl Combine,
) -> Result<(), Failure> {
    if data.len() <= lane.message_bytes && lane.tables.asked.reduce.is_none() {
        return run_message(lane, root, data, combine);
    }
    run_long(lane, root, data, combine)
}

/// One message's worth.
#[inline(always)]
fn run_message(
    lane: &mut Lane,
    root: usize,
    data: &mut [u8],
    combine: &impl Combine,
) -> Result<(), Failure> {
    let (fabric, tables, sum, incoming) = lane.for_messages(data.len());
    sum.copy_from_slice(data);
    if combine.ordered() || tables.deterministic {
        ordered(fabric, &tables.ordered, root, sum, incoming, combine)?;
    } else {
        tree(fabric, &tables.reduce, root, sum, incoming, combine)?;
    }
    if fabric.rank() == root {
        data.copy_from_slice(sum);
    }
    Ok(())
}

#[inline(never)]
fn run_long(
    lane: &mut Lane,
    root: usize,
    data: &mut [u8],
    combine: &impl Combine,
) -> Result<(), Failure> {
    let grain = combine.grain();
    let fragments = match lane.tables.asked.reduce {
        Some(Algorithm::Messages) if grain <= lane.message_bytes => {
            let bytes = lane.message_bytes / grain * grain;
            for part in Fragments::Fixed(bytes).of(data.len(), grain) {
                run_message(lane, root, &mut data[part], combine)?;
            }
            return Ok(());
        }
        Some(Algorithm::Whole) => Fragments::Whole,
        Some(Algorithm::Dynamic) => Fragments::DYNAMIC,
        _ => Fragments::FIXED,
    };
    let len = data.len();
    let room = SCRATCH_FRAGMENTS * fragments.bytes(len, grain);
    lane.with_scratch(room, grain, |fabric, tables, scratch| {
        bulk::scope(fabric, data, grain, |fabric, window| {
            let buffers = (window, scratch);
            if combine.ordered() || tables.deterministic {
                ordered_lent(
                    fabric,
                    &tables.ordered,
                    root,
                    buffers,
                    len,
                    fragments,
                    combine,
                )
            } else {
                lent(
                    fabric,
                    &tables.reduce,
                    root,
                    buffers,
                    len,
                    fragments,
                    combine,
                )
            }
        })
    })
}
