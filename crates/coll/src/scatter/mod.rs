//! Scatters: one rank's data, a part for each rank.

mod binomial;
mod direct;
mod token;

pub use binomial::binomial;
pub(crate) use binomial::{children, parent, subtree};
pub use direct::direct;
pub(crate) use token::halves;
pub use token::{TOKEN_BYTES, token_ring};

use crate::algorithms::named;
use crate::broadcast;
use crate::failure::Failure;
use crate::lane::Lane;
use crate::parts::equal;
use crate::transfer::Way;
use corecast_wire::{Fabric, bulk};
use std::ops::Range;

named! {
    /// How a scatter is done. Parts of different lengths go directly, wherever all ranks are linked.
    pub enum Algorithm: "scatter" {
        /// [`direct`], in messages alone: the root writes.
        Push = "push",
        /// [`direct`], lent: the others read.
        Pull = "pull",
        /// [`binomial`].
        Binomial = "binomial",
        /// [`token_ring`].
        Token = "token",
    }
}

/// Parts of one length: `recv.len()` bytes for each rank.
#[inline]
pub(crate) fn run(
    lane: &mut Lane,
    root: usize,
    send: &[u8],
    recv: &mut [u8],
    grain: usize,
) -> Result<(), Failure> {
    let len = recv.len();
    let part = equal(len);
    match lane.tables.asked.scatter.at(len) {
        Some(Algorithm::Binomial) => {}
        asked if lane.tables.mesh => return run_direct(lane, root, send, part, recv, grain, asked),
        _ => {}
    }
    run_binomial(lane, root, send, part, recv, |ranks: Range<usize>| {
        ranks.len() * len
    })
}

/// Parts of any lengths: `part` says where the root has them, `recv` is as long as this rank's.
pub(crate) fn run_parts(
    lane: &mut Lane,
    root: usize,
    send: &[u8],
    part: impl Fn(usize) -> Range<usize> + Copy,
    recv: &mut [u8],
    grain: usize,
) -> Result<(), Failure> {
    if lane.tables.mesh {
        let asked = lane.tables.asked.scatter.everywhere();
        return run_direct(lane, root, send, part, recv, grain, asked);
    }
    let lens = announce(lane, root, part, recv.len())?;
    run_binomial(lane, root, send, part, recv, around(&lens, root))
}

/// The bytes of all parts, which `root` knows: on ranks that are not all linked those on the way need
/// them. A rank whose own part is to have another length fails.
pub(crate) fn announce(
    lane: &mut Lane,
    root: usize,
    part: impl Fn(usize) -> Range<usize>,
    mine: usize,
) -> Result<Vec<u64>, Failure> {
    let (rank, n) = (lane.fabric.rank(), lane.fabric.size());
    let mut lens = vec![0u64; n];
    if rank == root {
        (0..n).for_each(|rank| lens[rank] = part(rank).len() as u64);
    }
    broadcast::run(lane, root, bytemuck::cast_slice_mut(&mut lens), 8)?;
    if lens[rank] != mine as u64 {
        return Err(lane.fabric.wrong_length(root, lens[rank] as usize, mine));
    }
    Ok(lens)
}

/// The bytes of an interval of ranks that are counted from `root` on, around.
pub(crate) fn around(lens: &[u64], root: usize) -> impl Fn(Range<usize>) -> usize + Copy {
    move |ranks| ranks.map(|v| lens[(v + root) % lens.len()] as usize).sum()
}

#[inline]
fn run_direct(
    lane: &mut Lane,
    root: usize,
    send: &[u8],
    part: impl Fn(usize) -> Range<usize> + Copy,
    recv: &mut [u8],
    grain: usize,
    asked: Option<Algorithm>,
) -> Result<(), Failure> {
    let way = match asked {
        Some(Algorithm::Push) => Way::push(lane.message_bytes, grain),
        Some(Algorithm::Pull) => Way::pull(lane.message_bytes, grain),
        _ => Way::one_way(lane.message_bytes, grain),
    };
    let near = lane.tables.near(lane.fabric.rank(), root);
    bulk::scope_to_read(&mut lane.fabric, send, grain, |fabric, send| match asked {
        Some(Algorithm::Token) => {
            let shape = (grain, TOKEN_BYTES);
            token_ring(fabric, root, send, part, recv, near, shape)
        }
        _ => direct(fabric, root, send, part, recv, way),
    })
}

#[inline(never)]
fn run_binomial(
    lane: &mut Lane,
    root: usize,
    send: &[u8],
    part: impl Fn(usize) -> Range<usize> + Copy,
    recv: &mut [u8],
    size: impl Fn(Range<usize>) -> usize + Copy,
) -> Result<(), Failure> {
    let (rank, n) = (lane.fabric.rank(), lane.fabric.size());
    let room = size(subtree((rank + n - root) % n, n));
    // Parts are only moved here, so the bytes are what is not parted.
    let way = Way::fitting(lane.message_bytes, 1);
    let (fabric, _, _, scratch) = lane.rooms(room);
    bulk::scope(fabric, scratch, 1, |fabric, scratch| {
        binomial(fabric, root, send, part, scratch, recv, size, way)
    })
}
