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
use crate::hardware::Hardware;
use crate::lane::{Lane, Tables};
use corecast_wire::Fabric;
use corecast_wire::bulk::{self, Window};

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
    if data.len() < lane.short.reduce {
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
    if lane.fabric.rank() != root {
        return send_up(lane, root, data, combine);
    }
    let (fabric, tables, _, incoming) = lane.for_messages(data.len());
    up(fabric, tables, root, data, incoming, combine)
}

/// Combines everybody's `sum` into the root's, in the order of ranks if that counts.
#[inline(always)]
fn up(
    fabric: &mut Hardware,
    tables: &Tables,
    root: usize,
    sum: &mut [u8],
    incoming: &mut [u8],
    combine: &impl Combine,
) -> Result<(), Failure> {
    if tables.keeps_order(combine) {
        ordered(fabric, &tables.ordered, root, sum, incoming, combine)
    } else {
        tree(fabric, &tables.reduce, root, sum, incoming, combine)
    }
}

/// [`run`] of a rank that is not the root: its data are only read.
pub(crate) fn contribute(
    lane: &mut Lane,
    root: usize,
    data: &[u8],
    combine: &impl Combine,
) -> Result<(), Failure> {
    debug_assert_ne!(
        lane.fabric.rank(),
        root,
        "the root gets what all make together"
    );
    let grain = combine.grain();
    let asked = lane.tables.asked.reduce.at(data.len());
    if in_messages(asked, lane, data.len(), grain) {
        for part in lane.messages(data.len(), grain) {
            send_up(lane, root, &data[part], combine)?;
        }
        return Ok(());
    }
    let flows = flows(lane, combine);
    let fragments = fragments(asked, flows);
    let len = data.len();
    let room = match flows {
        true => SCRATCH_FRAGMENTS * fragments.bytes(len, grain),
        false => 0,
    };
    lane.with_scratch(room, grain, |fabric, tables, scratch| {
        bulk::scope_to_read(fabric, data, grain, |fabric, window| {
            lend_up(
                fabric,
                tables,
                root,
                (window, scratch),
                len,
                fragments,
                combine,
            )
        })
    })
}

/// One message's worth of a rank that is not the root.
#[inline(always)]
fn send_up(
    lane: &mut Lane,
    root: usize,
    data: &[u8],
    combine: &impl Combine,
) -> Result<(), Failure> {
    let (fabric, tables, sum, incoming) = lane.for_messages(data.len());
    // In order, the tree hangs at rank 0 whatever the root.
    let (route, top) = match tables.keeps_order(combine) {
        true => (&tables.ordered, 0),
        false => (&tables.reduce, root),
    };
    // A leaf has nothing to add up.
    if let (None, Some(parent)) = (route.inward(top).next(), route.toward(top)) {
        return fabric.send(parent, data);
    }
    sum.copy_from_slice(data);
    up(fabric, tables, root, sum, incoming, combine)
}

/// Whether data go in messages, as many as it takes.
fn in_messages(asked: Option<Algorithm>, lane: &Lane, len: usize, grain: usize) -> bool {
    match asked {
        Some(Algorithm::Messages) => grain <= lane.message_bytes,
        Some(_) => false,
        None => len <= lane.message_bytes,
    }
}

/// Whether anybody passes anything on, through scratch.
fn flows(lane: &Lane, combine: &impl Combine) -> bool {
    lane.tables.reduce.len() > 2 || lane.tables.keeps_order(combine)
}

fn fragments(asked: Option<Algorithm>, flows: bool) -> Fragments {
    match asked {
        Some(Algorithm::Whole) => Fragments::Whole,
        Some(Algorithm::Dynamic) => Fragments::DYNAMIC,
        None if !flows => Fragments::Whole,
        _ => Fragments::FIXED,
    }
}

fn lend_up(
    fabric: &mut Hardware,
    tables: &Tables,
    root: usize,
    buffers: (&mut Window<'_>, &mut Window<'_>),
    len: usize,
    fragments: Fragments,
    combine: &impl Combine,
) -> Result<(), Failure> {
    if tables.keeps_order(combine) {
        let route = &tables.ordered;
        ordered_lent(fabric, route, root, buffers, len, fragments, combine)
    } else {
        let route = &tables.reduce;
        lent(fabric, route, root, buffers, len, fragments, combine)
    }
}

#[inline(never)]
fn run_long(
    lane: &mut Lane,
    root: usize,
    data: &mut [u8],
    combine: &impl Combine,
) -> Result<(), Failure> {
    let grain = combine.grain();
    let asked = lane.tables.asked.reduce.at(data.len());
    if in_messages(asked, lane, data.len(), grain) {
        for part in lane.messages(data.len(), grain) {
            run_message(lane, root, &mut data[part], combine)?;
        }
        return Ok(());
    }
    let flows = flows(lane, combine);
    let fragments = fragments(asked, flows);
    let len = data.len();
    let room = match flows {
        true => SCRATCH_FRAGMENTS * fragments.bytes(len, grain),
        false => 0,
    };
    lane.with_scratch(room, grain, |fabric, tables, scratch| {
        bulk::scope(fabric, data, grain, |fabric, window| {
            lend_up(
                fabric,
                tables,
                root,
                (window, scratch),
                len,
                fragments,
                combine,
            )
        })
    })
}
