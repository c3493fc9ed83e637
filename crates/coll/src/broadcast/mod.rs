//! Broadcasts: one rank's data for everybody.

mod binomial;
mod chain;
mod lent;
mod scattered;
mod tree;

pub use binomial::binomial;
pub use chain::chain;
pub use lent::lent;
pub use scattered::scattered;
pub use tree::tree;

use crate::algorithms::named;
use crate::failure::Failure;
use crate::fragments::Fragments;
use crate::lane::Lane;
use crate::transfer::Way;
use corecast_wire::bulk;

named! {
    /// How a broadcast is done.
    pub enum Algorithm: "broadcast" {
        /// [`tree`], in messages: the payload in the flag's line.
        Messages = "messages",
        /// [`lent`], in one piece.
        Whole = "whole",
        /// [`lent`], in fragments of [`Fragments::FIXED`].
        Fixed = "fixed",
        /// [`lent`], in fragments of [`Fragments::DYNAMIC`].
        Dynamic = "dynamic",
        /// [`binomial`], in fragments of [`Fragments::FIXED`].
        Binomial = "binomial",
        /// [`chain`], in fragments of [`Fragments::FIXED`].
        Chain = "chain",
        /// [`scattered`].
        Scattered = "scattered",
    }
}

#[inline(always)]
pub(crate) fn run(
    lane: &mut Lane,
    root: usize,
    data: &mut [u8],
    grain: usize,
) -> Result<(), Failure> {
    // Looked at first, because short ones are in a hurry.
    if data.len() <= lane.message_bytes && lane.tables.asked.broadcast.is_none() {
        return tree(&mut lane.fabric, &lane.tables.broadcast, root, data);
    }
    run_long(lane, root, data, grain)
}

#[inline(never)]
fn run_long(lane: &mut Lane, root: usize, data: &mut [u8], grain: usize) -> Result<(), Failure> {
    let asked = lane.tables.asked.broadcast;
    let fragments = match asked {
        // Two messages are faster than a loan: 0.77 times as long at 512 bytes, 1.6 with three.
        None | Some(Algorithm::Messages)
            if asked.is_some() || data.len() <= 2 * lane.message_bytes =>
        {
            for part in lane.messages(data.len(), 1) {
                tree(
                    &mut lane.fabric,
                    &lane.tables.broadcast,
                    root,
                    &mut data[part],
                )?;
            }
            return Ok(());
        }
        Some(Algorithm::Whole) => Fragments::Whole,
        Some(Algorithm::Dynamic) => Fragments::DYNAMIC,
        _ => Fragments::FIXED,
    };
    let shape = (data.len(), grain);
    let route = &lane.tables.broadcast;
    let way = Way::fitting(lane.message_bytes, grain);
    bulk::scope(
        &mut lane.fabric,
        data,
        grain,
        |fabric, window| match asked {
            Some(Algorithm::Binomial) => binomial(fabric, root, window, shape, fragments),
            Some(Algorithm::Chain) => chain(fabric, root, window, shape, fragments),
            Some(Algorithm::Scattered) => scattered(fabric, root, window, shape, way),
            _ => lent(fabric, route, root, window, shape, fragments),
        },
    )
}
