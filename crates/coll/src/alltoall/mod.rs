//! All to all: a part from each rank for each rank.

mod bruck;
mod direct;
mod padded;

pub use bruck::bruck;
pub use direct::direct;

use crate::algorithms::named;
use crate::failure::Failure;
use crate::lane::{Lane, SCRATCH_BYTES};
use crate::parts::equal;
use crate::transfer::Way;
use corecast_wire::{Fabric, bulk};
use std::ops::Range;

named! {
    /// How an all-to-all is done. Parts of different lengths go directly, wherever all ranks are
    /// linked; elsewhere [`bruck`] takes them, each as if it were as long as the longest.
    pub enum Algorithm: "alltoall" {
        /// [`direct`].
        Direct = "direct",
        /// [`bruck`].
        Bruck = "bruck",
    }
}

/// Parts of one length: both buffers have n times `len` bytes.
#[inline]
pub(crate) fn run(
    lane: &mut Lane,
    send: &[u8],
    recv: &mut [u8],
    len: usize,
    grain: usize,
) -> Result<(), Failure> {
    let part = equal(len);
    if lane.tables.mesh && lane.tables.asked.alltoall.at(len) != Some(Algorithm::Bruck) {
        return run_direct(lane, send, part, recv, part, grain);
    }
    run_bruck(lane, send, part, recv, part, len)
}

/// Parts of any lengths: `give` says where in `send`, `take` where in `recv`.
pub(crate) fn run_parts(
    lane: &mut Lane,
    send: &[u8],
    give: impl Fn(usize) -> Range<usize> + Copy,
    recv: &mut [u8],
    take: impl Fn(usize) -> Range<usize> + Copy,
    grain: usize,
) -> Result<(), Failure> {
    if lane.tables.mesh {
        return run_direct(lane, send, give, recv, take, grain);
    }
    let longest = padded::longest(lane, give, take)?;
    run_bruck(lane, send, give, recv, take, longest)
}

#[inline]
fn run_direct(
    lane: &mut Lane,
    send: &[u8],
    give: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    take: impl Fn(usize) -> Range<usize>,
    grain: usize,
) -> Result<(), Failure> {
    let way = Way::fitting(lane.message_bytes, grain);
    bulk::scope_to_read(&mut lane.fabric, send, grain, |fabric, send| {
        direct(fabric, send, give, recv, take, way)
    })
}

/// In as many goes as the scratch makes necessary.
fn run_bruck(
    lane: &mut Lane,
    send: &[u8],
    give: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    take: impl Fn(usize) -> Range<usize>,
    longest: usize,
) -> Result<(), Failure> {
    let n = lane.fabric.size();
    let way = Way::fitting(lane.message_bytes, 1);
    let once = (SCRATCH_BYTES / 2 / bruck::scratch_bytes(1, n)).max(1);
    for start in (0..longest.max(1)).step_by(once) {
        let len = once.min(longest - start);
        let within = |part: Range<usize>| {
            let at = |offset: usize| part.start + offset.min(part.len());
            at(start)..at(start + len)
        };
        let (fabric, _, _, scratch) = lane.rooms(bruck::scratch_bytes(len, n));
        bulk::scope(fabric, scratch, 1, |fabric, scratch| {
            let (give, take) = (|rank| within(give(rank)), |rank| within(take(rank)));
            bruck(fabric, send, give, recv, take, (scratch, len), way)
        })?;
    }
    Ok(())
}
