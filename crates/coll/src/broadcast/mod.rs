//! Broadcasts: one rank's data for everybody.

mod binomial;
mod chain;
mod groups;
mod lent;
mod line;
mod scattered;
mod tree;

pub use binomial::binomial;
pub use chain::chain;
pub use groups::groups;
pub use lent::lent;
pub use line::{AllLines, line};
pub use scattered::scattered;
pub use tree::tree;

use crate::algorithms::named;
use crate::failure::Failure;
use crate::fragments::Fragments;
use crate::lane::Lane;
use crate::transfer::Way;
use corecast_wire::notice::NOTICE_PAYLOAD_BYTES;
use corecast_wire::{Fabric, bulk};
use std::ops::Range;

named! {
    /// How a broadcast is done.
    pub enum Algorithm: "broadcast" {
        /// [`tree`], in messages: the payload in the flag's line.
        Messages = "messages",
        /// [`line`](fn@line), for up to 16 ranks: the payload in a line that all others poll, and what is
        /// longer in the lines of its body.
        Line = "line",
        /// [`groups`], over a plan that has some and from its root.
        Groups = "groups",
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
    if lane.posted.contains(&data.len()) {
        return run_posts(lane, root, data);
    }
    // Looked at first, because short ones are in a hurry.
    if data.len() < lane.short.broadcast {
        return run_short(lane, root, data);
    }
    run_long(lane, root, data, grain)
}

/// One message's worth, by the plan.
#[inline(always)]
fn run_short(lane: &mut Lane, root: usize, data: &mut [u8]) -> Result<(), Failure> {
    let route = &lane.tables.broadcast;
    match &lane.tables.fan_out {
        Some(way) if data.len() <= NOTICE_PAYLOAD_BYTES && root == route.root() => {
            groups(&mut lane.fabric, way, data)
        }
        _ => tree(&mut lane.fabric, route, root, data),
    }
}

/// Lengths of broadcasts between `n` ranks that go in posts for all, where the root has a line with a body;
/// `copies`: loans are copied to an outbox.
///
/// Between two ranks posts flow: one reads while the other writes, and nobody waits for a return. Where ranks
/// share cores all find the data as soon as the root has been there, and no rank in between has to run first.
/// In times of what they replace (2-core KVM guest, AMD EPYC, November 2026, `corecast bench`): 0.7 to 0.95
/// between two processes from 32 KiB on; between two threads 0.6 to 1.0 up to 4 MiB, and 1.1 beyond, where
/// one reads what the other has; of eight ranks on two cores 0.3 to 0.6 up to the half of a body.
pub(crate) fn posted(n: usize, copies: bool, message_bytes: usize) -> Range<usize> {
    match (n, copies) {
        // Two messages are as quick.
        (2, false) => 2 * message_bytes + 1..POSTED_BY_ADDRESS_MAX,
        (2, true) => 2 * message_bytes + 1..usize::MAX,
        (_, false) => 0..POSTED_CROWDED_MAX,
        (_, true) => 0..usize::MAX,
    }
}

const POSTED_BY_ADDRESS_MAX: usize = (4 << 20) + 1;
const POSTED_CROWDED_MAX: usize = (128 << 10) + 1;

/// In posts that all others read.
#[inline(always)]
fn run_posts(lane: &mut Lane, root: usize, data: &mut [u8]) -> Result<(), Failure> {
    let lines = lane.tables.all_lines.as_ref().expect("posts have lines");
    let mut parts = Fragments::Fixed(lane.post_bytes).of(data.len(), 1);
    parts.try_for_each(|part| line(&mut lane.fabric, lines, root, &mut data[part]))
}

/// As many messages as it takes, by the plan. Two of 8 KiB between two processes take 0.8 of the time of a
/// loan, between threads 0.9 to 1.05 (2-core KVM guest, AMD EPYC, November 2026, `corecast bench`).
fn run_messages(lane: &mut Lane, root: usize, data: &mut [u8]) -> Result<(), Failure> {
    for part in lane.messages(data.len(), 1) {
        let route = &lane.tables.broadcast;
        tree(&mut lane.fabric, route, root, &mut data[part])?;
    }
    Ok(())
}

/// By lines that groups share, if that was asked for and there are such.
fn run_lines(
    lane: &mut Lane,
    root: usize,
    data: &mut [u8],
    asked: Option<Algorithm>,
) -> Option<Result<(), Failure>> {
    match asked {
        // That of Corecast, behind a range for which another way was asked.
        None if lane.unasked_posted.contains(&data.len()) => Some(run_posts(lane, root, data)),
        Some(Algorithm::Line) if lane.post_bytes > 0 => Some(run_posts(lane, root, data)),
        Some(Algorithm::Groups) if root == lane.tables.broadcast.root() => {
            let (fabric, way) = (&mut lane.fabric, lane.tables.fan_out.as_ref()?);
            let mut parts = Fragments::Fixed(NOTICE_PAYLOAD_BYTES).of(data.len(), 1);
            Some(parts.try_for_each(|part| groups(fabric, way, &mut data[part])))
        }
        _ => None,
    }
}

#[inline(never)]
fn run_long(lane: &mut Lane, root: usize, data: &mut [u8], grain: usize) -> Result<(), Failure> {
    let asked = lane.tables.asked.broadcast.at(data.len());
    if let Some(ended) = run_lines(lane, root, data, asked) {
        return ended;
    }
    let asked = asked.filter(|asked| !matches!(asked, Algorithm::Line | Algorithm::Groups));
    if asked.is_none() && data.len() <= lane.message_bytes {
        return run_short(lane, root, data);
    }
    let fragments = match asked {
        Some(Algorithm::Messages) => return run_messages(lane, root, data),
        None if lane.fabric.size() == 2 && data.len() <= 2 * lane.message_bytes => {
            return run_messages(lane, root, data);
        }
        Some(Algorithm::Whole) => Fragments::Whole,
        Some(Algorithm::Dynamic) => Fragments::DYNAMIC,
        // Nobody passes anything on: nothing flows.
        None if lane.fabric.size() == 2 => Fragments::Whole,
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
