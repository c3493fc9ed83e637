//! The algorithms of broadcasts, and the choice between them.

use crate::pipeline::PipelineSegments;
use crate::registry::{Request, Selection, TeamTraits, algorithms};
use corecast_wire::broadcast_ring::RING_PAYLOAD_BYTES;
use std::ops::Range;

algorithms! {
    /// The algorithms of broadcasts.
    pub enum Algorithm: Broadcast {
        /// [`tree`](fn@super::tree), in messages, whose payload is in the flag's line.
        Messages = "messages" in "broadcast/tree.rs", "Smelt §3.1",
            needs [Plan], phases ["down the tree"], costs "n-1", "(n-1)*s";
        /// [`line`](fn@super::line), for up to 16 ranks: the payload is in a line that all others poll, and longer
        /// payloads continue in the lines of its body.
        Line = "line" in "broadcast/line.rs", "CLa §4.1, one line over a flat tree; what is longer goes on in the lines of its body, above 16 KiB in several published messages",
            needs [LineOfEach], phases ["down the tree"], costs "n-1", "(n-1)*s";
        /// [`groups`](fn@super::groups), over a plan with groups, from its root.
        Groups = "groups" in "broadcast/groups.rs", "CLa §4.1.2, several groups; above 56 bytes in several",
            needs [Groups], phases ["down the tree"], costs "n-1", "(n-1)*s";
        /// [`lent`](fn@super::lent), in one piece.
        Whole = "whole" in "broadcast/lent.rs", "CLa §4",
            needs [Plan], phases ["down the tree"], costs "n-1", "(n-1)*s";
        /// [`lent`](fn@super::lent), in pipeline segments of [`PipelineSegments::FIXED`](crate::PipelineSegments).
        Fixed = "fixed" in "broadcast/lent.rs", "NUMA clusters §3.1",
            needs [Plan], size Segment(PipelineSegments::FIXED_BYTES), phases ["down the tree"], costs "n-1", "(n-1)*s";
        /// [`lent`](fn@super::lent), in pipeline segments of [`PipelineSegments::DYNAMIC`](crate::PipelineSegments).
        Dynamic = "dynamic" in "broadcast/lent.rs", "NUMA clusters §3.1",
            needs [Plan], size Segment(PipelineSegments::DYNAMIC_BYTES), phases ["down the tree"], costs "n-1", "(n-1)*s";
        /// [`binomial`](fn@super::binomial), in pipeline segments of [`PipelineSegments::FIXED`](crate::PipelineSegments).
        Binomial = "binomial" in "broadcast/binomial.rs", "Thakur and others 2005 §4.2",
            needs [Steps], size Segment(PipelineSegments::FIXED_BYTES), phases ["down the tree"], costs "n-1", "(n-1)*s";
        /// [`chain`](fn@super::chain), in pipeline segments of [`PipelineSegments::FIXED`](crate::PipelineSegments).
        Chain = "chain" in "broadcast/chain.rs", "Pješivac-Grbović and others 2007 §3",
            needs [Ring], size Segment(PipelineSegments::FIXED_BYTES), phases ["down the tree"], costs "n-1", "(n-1)*s";
        /// [`scattered`](fn@super::scattered).
        Scattered = "scattered" in "broadcast/scattered.rs", "Thakur and others 2005 §4.2",
            needs [Steps], phases ["scatter", "allgather"], costs "(n-1)*(n+1)-ones", "(n-1)*s";
    }
}

/// Returns the algorithm that was asked for if the team can run it, else one by length.
#[inline]
pub fn choose(
    asked: Option<Selection<Algorithm>>,
    request: &Request,
    traits: &TeamTraits,
) -> Selection<Algorithm> {
    Selection::asked_or(asked, request, traits, usual)
}

/// The algorithm by length where none was asked for.
#[inline]
fn usual(request: &Request, traits: &TeamTraits) -> Selection<Algorithm> {
    match request.bytes {
        bytes if published(traits).contains(&bytes) => Algorithm::Line.into(),
        0..=RING_PAYLOAD_BYTES if traits.groups_root == Some(request.root) => {
            Algorithm::Groups.into()
        }
        bytes if bytes <= traits.one_message_bytes() => Algorithm::Messages.into(),
        bytes if traits.ranks == 2 && bytes <= traits.one_way_bytes(1) => {
            Algorithm::Messages.into()
        }
        bytes if bytes <= traits.overlapped_bytes() => Algorithm::Dynamic.into(),
        // With two ranks no rank passes data on, so pipeline segments save nothing.
        _ if traits.ranks == 2 => Algorithm::Whole.into(),
        bytes => match traits
            .segments
            .map(|model| model.of_tree(bytes, traits.ranks))
        {
            Some(None) => Algorithm::Whole.into(),
            best => Selection::in_segments(Algorithm::Fixed, best.flatten()),
        },
    }
}

/// Lengths in bytes of broadcasts that go in published messages where no algorithm is asked for; the root has a
/// line with a body.
///
/// A published message is copied twice. So is a loan of another process, but its root waits until the data are returned. Where
/// ranks share cores all find the data as soon as the root has run, and no rank in between has to run first. Two threads with a
/// core each have neither gain: what is beyond a message is lent, and copied once.
///
/// Times relative to the algorithms that they replace (2-core KVM guest, AMD EPYC, November 2026, `corecast
/// bench`): 0.7 to 0.95 between two processes from 256 KiB on; of eight ranks on two cores 0.3 to 0.6 up to half of what a ring
/// holds. Between two threads they take 1.5 to 2.9 times as long from 16 to 64 KiB.
pub fn published(traits: &TeamTraits) -> Range<usize> {
    let more_than_two_messages = 2 * traits.message_bytes + 1;
    match (traits.ranks, traits.copies) {
        _ if !traits.publishes => 0..0,
        (2, false) if traits.sharing == 1 => 0..0,
        (2, false) => more_than_two_messages..POSTED_OVERSUBSCRIBED_MAX,
        (2, true) => more_than_two_messages.max(traits.overlapped_bytes() + 1)..usize::MAX,
        (_, false) => 0..POSTED_OVERSUBSCRIBED_MAX,
        (_, true) => 0..usize::MAX,
    }
}

/// A ring of lines with bodies holds 256 KiB. Of data up to half of that a root publishes all and goes on, while others
/// still read those before.
const POSTED_OVERSUBSCRIBED_MAX: usize = (128 << 10) + 1;
