//! Scans: each rank gets the data of all ranks up to its own combined, or up to the one before.

mod chain;
mod doubling;

pub use chain::chain;
pub use doubling::doubling;

use crate::algorithms::named;
use crate::combine::Combine;
use crate::failure::Failure;
use crate::fragments::Fragments;
use crate::lane::{Lane, Traits};
use crate::transfer::Way;
use corecast_wire::bulk;

named! {
    /// How a scan is done, inclusive or exclusive. Both keep the order of ranks; deterministic teams take
    /// [`chain`] for every length, so that the brackets are always those of a loop over the ranks.
    pub enum Algorithm: "scan" {
        /// [`chain`].
        Chain = "chain",
        /// [`doubling`].
        Doubling = "doubling",
    }
}

/// Which ranks a rank's result covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upto {
    /// Those up to its own.
    Own,
    /// Those before its own; the first rank's data stay as they are.
    Before,
}

/// What was asked for, else by length; `keeps_order` says that brackets must be those of a loop.
#[inline]
pub(crate) fn choose(asked: Option<Algorithm>, traits: Traits, len: usize) -> Algorithm {
    match asked {
        _ if traits.keeps_order => Algorithm::Chain,
        Some(asked) => asked,
        None if len <= traits.message_bytes && traits.ranks > 2 => Algorithm::Doubling,
        None => Algorithm::Chain,
    }
}

#[inline]
pub(crate) fn run(
    lane: &mut Lane,
    data: &mut [u8],
    upto: Upto,
    combine: &impl Combine,
) -> Result<(), Failure> {
    let (len, grain) = (data.len(), combine.grain());
    let way = Way::fitting(lane.message_bytes, grain);
    let asked = lane.tables.asked.scan.at(len);
    let algorithm = choose(asked, lane.traits(lane.tables.deterministic), len);
    let fragments = Fragments::FIXED;
    let room = fragments.bytes(len, grain).min(len);
    let (fabric, _, incoming, scratch) = lane.rooms(2 * room);
    if algorithm == Algorithm::Doubling {
        let (first, second) = scratch.split_at_mut(room);
        return bulk::scope(fabric, first, grain, |fabric, first| {
            bulk::scope(fabric, second, grain, |fabric, second| {
                for part in fragments.of(len, grain) {
                    let buffers = (&mut *first, &mut *second, &mut *incoming);
                    doubling(fabric, &mut data[part], upto, buffers, combine, way)?;
                }
                Ok(())
            })
        });
    }
    bulk::scope(fabric, scratch, grain, |fabric, scratch| {
        bulk::scope(fabric, data, grain, |fabric, window| {
            let buffers = (window, (scratch, room), incoming);
            chain(fabric, buffers, len, fragments, upto, combine, way)
        })
    })
}
