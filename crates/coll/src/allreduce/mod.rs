//! Allreductions: everybody's data combined, for everybody.

mod doubling;
mod exchange;
mod owners;
mod rabenseifner;
mod ring;
mod tree;

pub use doubling::doubling;
pub use exchange::exchange;
pub use owners::{owners, owners_ordered};
pub use rabenseifner::rabenseifner;
pub use ring::ring;
pub use tree::tree;

use crate::algorithms::named;
use crate::brackets::Brackets;
use crate::combine::Combine;
use crate::failure::Failure;
use crate::fragments::Fragments;
use crate::lane::{Lane, Traits};
use crate::reduce_scatter::PIECE_BYTES;
use crate::transfer::Way;
use crate::{broadcast, reduce};
use corecast_wire::{Fabric, bulk};

named! {
    /// How an allreduction is done.
    pub enum Algorithm: "allreduce" {
        /// [`tree`], in messages; two ranks: [`exchange`].
        Messages = "messages",
        /// A reduction and a broadcast of their own choice.
        Trees = "trees",
        /// [`owners`]; operators that need the order of ranks, and deterministic teams,
        /// [`owners_ordered`].
        Owners = "owners",
        /// [`doubling`].
        Doubling = "doubling",
        /// [`rabenseifner`].
        Rabenseifner = "rabenseifner",
        /// [`ring`].
        Ring = "ring",
    }
}

#[inline(always)]
pub(crate) fn run(lane: &mut Lane, data: &mut [u8], combine: &impl Combine) -> Result<(), Failure> {
    if data.len() < lane.short.allreduce {
        return run_message(lane, data, combine);
    }
    run_long(lane, data, combine)
}

/// One message's worth.
#[inline(always)]
fn run_message(lane: &mut Lane, data: &mut [u8], combine: &impl Combine) -> Result<(), Failure> {
    let (fabric, tables, _, incoming) = lane.for_messages(data.len());
    if fabric.size() == 2 {
        exchange(fabric, data, incoming, combine)
    } else if tables.keeps_order(combine) {
        let root = tables.broadcast.root();
        reduce::ordered(fabric, &tables.ordered, root, data, incoming, combine)?;
        broadcast::tree(fabric, &tables.broadcast, root, data)
    } else {
        let (fan_in, fan_out) = (&tables.reduce, &tables.broadcast);
        tree(fabric, fan_in, fan_out, data, incoming, combine)
    }
}

#[inline(never)]
fn run_long(lane: &mut Lane, data: &mut [u8], combine: &impl Combine) -> Result<(), Failure> {
    let (len, grain) = (data.len(), combine.grain());
    let asked = lane.tables.asked.allreduce.at(len);
    let traits = lane.traits(lane.tables.keeps_order(combine));
    match choose(asked, traits, len, grain) {
        Algorithm::Messages => {
            for part in lane.messages(len, grain) {
                run_message(lane, &mut data[part], combine)?;
            }
            Ok(())
        }
        Algorithm::Trees => {
            let root = lane.tables.broadcast.root();
            reduce::run(lane, root, data, combine)?;
            broadcast::run(lane, root, data, grain)
        }
        Algorithm::Doubling => run_doubling(lane, data, combine),
        long => run_blocks(lane, data, combine, long),
    }
}

/// Longest data (bytes) that two ranks exchange whole. Two threads on two cores of an Intel Xeon,
/// `examples/sizes allreduce`: at 2 KiB [`owners`] take 1.24 times as long, at 4 KiB 0.89 times.
const SWAP_BYTES_MAX: usize = 2 * 1024;

/// Longest data (bytes) that more ranks combine along trees. 8 threads on two cores, `examples/sizes
/// allreduce 8`: trees take 0.6 to 0.75 times as long as [`owners`] up to 16 KiB, with ordered operators
/// 0.75 to 0.9 times up to 8 KiB; beyond, they stop being faster.
const TREES_BYTES_MAX: usize = 16 * 1024;

/// What was asked for, where it can do this, else by length.
pub(crate) fn choose(
    asked: Option<Algorithm>,
    traits: Traits,
    len: usize,
    grain: usize,
) -> Algorithm {
    let (n, mesh, even) = (traits.ranks, traits.mesh, traits.ranks.is_power_of_two());
    match asked {
        Some(Algorithm::Messages) if grain <= traits.message_bytes => Algorithm::Messages,
        Some(Algorithm::Trees) => Algorithm::Trees,
        Some(Algorithm::Doubling) if mesh || even => Algorithm::Doubling,
        Some(Algorithm::Rabenseifner) if even => Algorithm::Rabenseifner,
        Some(Algorithm::Ring) if !traits.keeps_order => Algorithm::Ring,
        Some(Algorithm::Owners) if mesh => Algorithm::Owners,
        _ if len <= traits.message_bytes => Algorithm::Messages,
        // Two messages are faster than a loan: 0.8 times as long at 512 bytes, 1.25 with three.
        _ if n == 2 && len <= 2 * traits.message_bytes && grain <= traits.message_bytes => {
            Algorithm::Messages
        }
        _ if n == 2 && len <= SWAP_BYTES_MAX => Algorithm::Doubling,
        _ if n > 2 && len <= TREES_BYTES_MAX => Algorithm::Trees,
        _ if mesh => Algorithm::Owners,
        _ => Algorithm::Trees,
    }
}

/// Fragment by fragment, as much as the scratch takes.
fn run_doubling(lane: &mut Lane, data: &mut [u8], combine: &impl Combine) -> Result<(), Failure> {
    let (len, grain) = (data.len(), combine.grain());
    let way = Way::fitting(lane.message_bytes, grain);
    let room = Fragments::FIXED.bytes(len, grain).min(len);
    for part in Fragments::FIXED.of(len, grain) {
        let (fabric, _, incoming, scratch) = lane.rooms(room);
        bulk::scope(fabric, scratch, grain, |fabric, scratch| {
            let data = &mut data[part];
            let len = data.len();
            bulk::scope(fabric, data, grain, |fabric, window| {
                doubling(fabric, (window, scratch, len), incoming, combine, way)
            })
        })?;
    }
    Ok(())
}

/// What cuts the data into a block for each rank.
fn run_blocks(
    lane: &mut Lane,
    data: &mut [u8],
    combine: &impl Combine,
    algorithm: Algorithm,
) -> Result<(), Failure> {
    let (len, grain, n) = (data.len(), combine.grain(), lane.fabric.size());
    let keeps_order = lane.tables.keeps_order(combine);
    let way = Way::fitting(lane.message_bytes, grain);
    let piece = (PIECE_BYTES / grain * grain).max(grain);
    let room = match algorithm {
        Algorithm::Owners if keeps_order && n > 2 => Brackets::bytes(piece, n),
        _ => 0,
    };
    let (fabric, _, incoming, scratch) = lane.rooms(room);
    bulk::scope(fabric, data, grain, |fabric, window| match algorithm {
        Algorithm::Rabenseifner => rabenseifner(fabric, window, len, incoming, combine, way),
        Algorithm::Ring => ring(fabric, window, len, incoming, combine, way),
        _ if room > 0 => owners_ordered(fabric, window, len, scratch, combine, piece),
        _ => owners(fabric, window, len, combine),
    })
}
