//! Allreductions: everybody's data combined, for everybody.

mod exchange;
mod owners;
mod tree;

pub use exchange::exchange;
pub use owners::owners;
pub use tree::tree;

use crate::algorithms::named;
use crate::combine::Combine;
use crate::failure::Failure;
use crate::fragments::Fragments;
use crate::lane::Lane;
use crate::{broadcast, reduce};
use corecast_wire::{Fabric, bulk};

named! {
    /// How an allreduction is done.
    pub enum Algorithm: "allreduce" {
        /// [`tree`], in messages; two ranks: [`exchange`].
        Messages = "messages",
        /// A reduction and a broadcast of their own choice.
        Trees = "trees",
        /// [`owners`].
        Owners = "owners",
    }
}

#[inline(always)]
pub(crate) fn run(lane: &mut Lane, data: &mut [u8], combine: &impl Combine) -> Result<(), Failure> {
    if data.len() <= lane.message_bytes && lane.tables.asked.allreduce.is_none() {
        return run_message(lane, data, combine);
    }
    run_long(lane, data, combine)
}

/// One message's worth.
#[inline(always)]
fn run_message(lane: &mut Lane, data: &mut [u8], combine: &impl Combine) -> Result<(), Failure> {
    let (fabric, tables, sum, incoming) = lane.for_messages(data.len());
    sum.copy_from_slice(data);
    if fabric.size() == 2 {
        exchange(fabric, sum, incoming, combine)?;
    } else if combine.ordered() || tables.deterministic {
        let root = tables.broadcast.root();
        reduce::ordered(fabric, &tables.ordered, root, sum, incoming, combine)?;
        broadcast::tree(fabric, &tables.broadcast, root, sum)?;
    } else {
        tree(
            fabric,
            &tables.reduce,
            &tables.broadcast,
            sum,
            incoming,
            combine,
        )?;
    }
    data.copy_from_slice(sum);
    Ok(())
}

#[inline(never)]
fn run_long(lane: &mut Lane, data: &mut [u8], combine: &impl Combine) -> Result<(), Failure> {
    let (len, grain) = (data.len(), combine.grain());
    let tables = &lane.tables;
    let keeps_order = combine.ordered() || tables.deterministic;
    match tables.asked.allreduce {
        Some(Algorithm::Messages) if grain <= lane.message_bytes => {
            let bytes = lane.message_bytes / grain * grain;
            for part in Fragments::Fixed(bytes).of(len, grain) {
                run_message(lane, &mut data[part], combine)?;
            }
            return Ok(());
        }
        None | Some(Algorithm::Owners)
            if tables.mesh && (!keeps_order || tables.ordered.len() <= 2) =>
        {
            return bulk::scope(&mut lane.fabric, data, grain, |fabric, window| {
                owners(fabric, window, len, combine)
            });
        }
        _ => {}
    }
    let root = tables.broadcast.root();
    reduce::run(lane, root, data, combine)?;
    broadcast::run(lane, root, data, grain)
}
