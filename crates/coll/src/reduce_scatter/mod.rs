//! Reductions of which each rank gets a block.

mod halving;
mod owners;
mod ring;

pub use halving::halving;
pub use owners::{PIECE_BYTES, owners, owners_ordered};
pub use ring::ring;

use crate::algorithms::named;
use crate::brackets::Brackets;
use crate::combine::Combine;
use crate::failure::Failure;
use crate::lane::{Lane, SCRATCH_BYTES, Traits};
use crate::reduce;
use crate::transfer::Way;
use corecast_wire::{Fabric, bulk};
use std::ops::Range;

named! {
    /// How a reduction that is scattered is done.
    pub enum Algorithm: "reduce_scatter" {
        /// [`owners`]; operators that need the order of ranks, and deterministic teams,
        /// [`owners_ordered`].
        Owners = "owners",
        /// [`ring`].
        Ring = "ring",
        /// [`halving`].
        Halving = "halving",
        /// A reduction to each rank, of its block.
        Trees = "trees",
    }
}

/// `block` says where in `send` each rank's block is, `recv` is as long as this rank's.
#[inline]
pub(crate) fn run(
    lane: &mut Lane,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize> + Copy,
    recv: &mut [u8],
    combine: &impl Combine,
) -> Result<(), Failure> {
    let keeps_order = lane.tables.keeps_order(combine);
    let asked = &lane.tables.asked.reduce_scatter;
    let asked = match asked.is_uniform() {
        true => asked.everywhere(),
        false => asked.at(send.len().div_ceil(lane.fabric.size())),
    };
    match choose(asked, lane.traits(keeps_order)) {
        Algorithm::Owners if keeps_order => run_ordered(lane, send, block, recv, combine),
        Algorithm::Owners => run_owners(lane, send, block, recv, combine),
        Algorithm::Ring => run_ring(lane, send, block, recv, combine),
        Algorithm::Halving => run_halving(lane, send, block, recv, combine),
        Algorithm::Trees => run_trees(lane, send, block, recv, combine),
    }
}

/// Where all ranks are linked, [`owners`]; else [`ring`], unless the order of ranks must be kept.
#[inline]
pub(crate) fn choose(asked: Option<Algorithm>, traits: Traits) -> Algorithm {
    let (keeps_order, even) = (traits.keeps_order, traits.ranks.is_power_of_two());
    match asked {
        Some(Algorithm::Ring) if !keeps_order => Algorithm::Ring,
        Some(Algorithm::Halving) if !keeps_order && even => Algorithm::Halving,
        Some(Algorithm::Trees) => Algorithm::Trees,
        _ if traits.mesh => Algorithm::Owners,
        _ if keeps_order => Algorithm::Trees,
        _ => Algorithm::Ring,
    }
}

#[inline]
fn run_owners(
    lane: &mut Lane,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    combine: &impl Combine,
) -> Result<(), Failure> {
    let grain = combine.grain();
    let way = Way::fitting(lane.message_bytes, grain);
    let (fabric, _, incoming, _) = lane.rooms(0);
    bulk::scope_to_read(fabric, send, grain, |fabric, send| {
        owners(fabric, send, block, recv, incoming, combine, way)
    })
}

fn run_ordered(
    lane: &mut Lane,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    combine: &impl Combine,
) -> Result<(), Failure> {
    let grain = combine.grain();
    let way = Way::fitting(lane.message_bytes, grain);
    let piece = (PIECE_BYTES / grain * grain).max(grain);
    let room = Brackets::bytes(piece, lane.fabric.size());
    let (fabric, _, incoming, stack) = lane.rooms(room);
    bulk::scope_to_read(fabric, send, grain, |fabric, send| {
        let buffers = (incoming, stack);
        owners_ordered(fabric, send, block, recv, buffers, combine, (way, piece))
    })
}

/// In as many goes as the scratch makes necessary.
fn run_ring(
    lane: &mut Lane,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    combine: &impl Combine,
) -> Result<(), Failure> {
    let (grain, n) = (combine.grain(), lane.fabric.size());
    let way = Way::fitting(lane.message_bytes, grain);
    let longest = (0..n).map(|owner| block(owner).len()).max().unwrap_or(0);
    let once = (SCRATCH_BYTES / 4 / grain * grain).max(grain);
    for start in (0..longest.max(1)).step_by(once) {
        let room = once.min(longest - start);
        let within = |part: Range<usize>| {
            let at = |offset: usize| part.start + offset.min(part.len());
            at(start)..at(start + room)
        };
        let into = within(0..recv.len());
        let (fabric, _, incoming, scratch) = lane.rooms(2 * room);
        bulk::scope(fabric, scratch, grain, |fabric, scratch| {
            let (block, recv) = (|owner| within(block(owner)), &mut recv[into]);
            let buffers = ((scratch, room), incoming);
            ring(fabric, send, block, recv, buffers, combine, way)
        })?;
    }
    Ok(())
}

fn run_halving(
    lane: &mut Lane,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    combine: &impl Combine,
) -> Result<(), Failure> {
    let grain = combine.grain();
    let way = Way::fitting(lane.message_bytes, grain);
    let (fabric, _, incoming, scratch) = lane.rooms(send.len());
    bulk::scope(fabric, scratch, grain, |fabric, scratch| {
        halving(fabric, send, block, recv, (scratch, incoming), combine, way)
    })
}

fn run_trees(
    lane: &mut Lane,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    combine: &impl Combine,
) -> Result<(), Failure> {
    for owner in 0..lane.fabric.size() {
        if owner == lane.fabric.rank() {
            recv.copy_from_slice(&send[block(owner)]);
            reduce::run(lane, owner, recv, combine)?;
        } else {
            reduce::contribute(lane, owner, &send[block(owner)], combine)?;
        }
    }
    Ok(())
}
