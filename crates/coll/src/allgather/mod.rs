//! Allgathers: everybody's data side by side, for everybody.

mod bruck;
mod direct;
mod ring;

pub use bruck::bruck;
pub use direct::direct;
pub use ring::ring;

use crate::algorithms::named;
use crate::failure::Failure;
use crate::lane::{Lane, Traits};
use crate::parts::equal;
use crate::transfer::Way;
use crate::{broadcast, gather};
use corecast_wire::{Fabric, bulk};
use std::ops::Range;

named! {
    /// How an allgather is done. Parts of different lengths know [`direct`] and [`ring`] alone.
    pub enum Algorithm: "allgather" {
        /// [`direct`].
        Direct = "direct",
        /// [`ring`].
        Ring = "ring",
        /// [`bruck`].
        Bruck = "bruck",
        /// A gather and a broadcast of their own choice.
        Trees = "trees",
    }
}

/// Parts of one length: `send.len()` bytes of each rank, for each rank's `recv`.
#[inline]
pub(crate) fn run(
    lane: &mut Lane,
    send: &[u8],
    recv: &mut [u8],
    grain: usize,
) -> Result<(), Failure> {
    let len = send.len();
    let part = equal(len);
    match choose(lane.tables.asked.allgather.at(len), lane.traits(false), len) {
        Algorithm::Trees => {
            let root = lane.tables.broadcast.root();
            gather::run(lane, root, send, recv, grain)?;
            broadcast::run(lane, root, recv, grain)
        }
        Algorithm::Bruck => {
            let way = Way::fitting(lane.message_bytes, grain);
            recv[part(lane.fabric.rank())].copy_from_slice(send);
            bulk::scope(&mut lane.fabric, recv, grain, |fabric, recv| {
                bruck(fabric, recv, len, way)
            })
        }
        Algorithm::Ring => run_ring(lane, send, recv, part, grain),
        Algorithm::Direct => run_direct(lane, send, recv, part, grain),
    }
}

/// Where all ranks are linked, [`direct`]; else [`bruck`] where all fits a message, and [`ring`].
#[inline]
pub(crate) fn choose(asked: Option<Algorithm>, traits: Traits, len: usize) -> Algorithm {
    match asked {
        Some(Algorithm::Direct) if !traits.mesh => {}
        Some(asked) => return asked,
        None => {}
    }
    match traits.mesh {
        true => Algorithm::Direct,
        false if len <= traits.message_bytes => Algorithm::Bruck,
        false => Algorithm::Ring,
    }
}

/// Parts of any lengths: `part` says where everybody wants them.
pub(crate) fn run_parts(
    lane: &mut Lane,
    send: &[u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize> + Copy,
    grain: usize,
) -> Result<(), Failure> {
    match lane.tables.asked.allgather.everywhere() {
        Some(Algorithm::Ring) => {}
        _ if lane.tables.mesh => return run_direct(lane, send, recv, part, grain),
        _ => {}
    }
    run_ring(lane, send, recv, part, grain)
}

#[inline]
fn run_direct(
    lane: &mut Lane,
    send: &[u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize>,
    grain: usize,
) -> Result<(), Failure> {
    // Two messages of 8 KiB take 0.9 of the time of a loan (2 processes on two cores).
    let way = Way::one_way(lane.message_bytes, grain);
    bulk::scope_to_read(&mut lane.fabric, send, grain, |fabric, send| {
        direct(fabric, (send, send.len()), recv, part, way)
    })
}

fn run_ring(
    lane: &mut Lane,
    send: &[u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize>,
    grain: usize,
) -> Result<(), Failure> {
    let way = Way::fitting(lane.message_bytes, grain);
    recv[part(lane.fabric.rank())].copy_from_slice(send);
    bulk::scope(&mut lane.fabric, recv, grain, |fabric, recv| {
        let rank = fabric.rank();
        ring(fabric, recv, part, rank, way)
    })
}
