//! Gathers: everybody's data side by side, for one rank.

mod binomial;
mod direct;
mod token;

pub use binomial::binomial;
pub use direct::direct;
pub use token::token_ring;

use crate::algorithms::named;
use crate::failure::Failure;
use crate::lane::Lane;
use crate::parts::equal;
use crate::scatter::{TOKEN_BYTES, announce, around, subtree};
use crate::transfer::Way;
use corecast_wire::{Fabric, bulk};
use std::ops::Range;

named! {
    /// How a gather is done. Parts of different lengths go directly, wherever all ranks are linked.
    pub enum Algorithm: "gather" {
        /// [`direct`], in messages alone: the others write.
        Push = "push",
        /// [`direct`], lent: the root reads.
        Pull = "pull",
        /// [`binomial`].
        Binomial = "binomial",
        /// [`token_ring`].
        Token = "token",
    }
}

/// Parts of one length: `send.len()` bytes of each rank. `recv` is the root's alone.
#[inline]
pub(crate) fn run(
    lane: &mut Lane,
    root: usize,
    send: &[u8],
    recv: &mut [u8],
    grain: usize,
) -> Result<(), Failure> {
    let len = send.len();
    let part = equal(len);
    match lane.tables.asked.gather.at(len) {
        Some(Algorithm::Binomial) => {}
        asked if lane.tables.mesh => return run_direct(lane, root, send, recv, part, grain, asked),
        _ => {}
    }
    run_binomial(lane, root, send, recv, part, |ranks: Range<usize>| {
        ranks.len() * len
    })
}

/// Parts of any lengths: `part` says where the root wants them, `send` is as long as this rank's.
pub(crate) fn run_parts(
    lane: &mut Lane,
    root: usize,
    send: &[u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize> + Copy,
    grain: usize,
) -> Result<(), Failure> {
    if lane.tables.mesh {
        let asked = lane.tables.asked.gather.everywhere();
        return run_direct(lane, root, send, recv, part, grain, asked);
    }
    let lens = announce(lane, root, part, send.len())?;
    run_binomial(lane, root, send, recv, part, around(&lens, root))
}

#[inline]
fn run_direct(
    lane: &mut Lane,
    root: usize,
    send: &[u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize> + Copy,
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
            token_ring(fabric, root, (send, send.len()), recv, part, near, shape)
        }
        _ => direct(fabric, root, (send, send.len()), recv, part, way),
    })
}

#[inline(never)]
fn run_binomial(
    lane: &mut Lane,
    root: usize,
    send: &[u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize> + Copy,
    size: impl Fn(Range<usize>) -> usize + Copy,
) -> Result<(), Failure> {
    let (rank, n) = (lane.fabric.rank(), lane.fabric.size());
    let room = size(subtree((rank + n - root) % n, n));
    let way = Way::fitting(lane.message_bytes, 1);
    let (fabric, _, _, scratch) = lane.rooms(room);
    bulk::scope(fabric, scratch, 1, |fabric, scratch| {
        binomial(fabric, root, send, scratch, recv, part, size, way)
    })
}
