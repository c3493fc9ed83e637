//! The algorithms of allreductions, and the choice between them.

use crate::broadcast::published;
use crate::pipeline::PipelineSegments;
use crate::registry::{Request, Selection, TeamTraits, algorithms};
use corecast_wire::broadcast_ring::RING_PAYLOAD_BYTES;

algorithms! {
    /// The algorithms of allreductions.
    pub enum Algorithm: Allreduce {
        /// [`tree`](fn@super::tree), in messages; [`exchange`](fn@super::exchange) between two ranks.
        Messages = "messages" in "allreduce/tree.rs", "Smelt §4.2; two ranks `allreduce/exchange.rs`",
            needs [Plan, ShortElements], phases ["reduce", "broadcast"], costs "2*(n-1)", "2*(n-1)*s";
        /// A reduction and a broadcast, each of which chooses its own algorithm.
        Trees = "trees" in "allreduce/mod.rs", "a reduction and a broadcast, by their own choice",
            needs [Plan], phases ["reduce", "broadcast"], costs "2*(n-1)", "2*(n-1)*s";
        /// [`owners`](fn@super::owners), or [`owners_ordered`](fn@super::owners_ordered) for operators that need
        /// the order of ranks and for deterministic teams.
        Owners = "owners" in "allreduce/owners.rs", "NUMA clusters §3, as all read all; in order with `reduction_order.rs`",
            needs [Mesh], phases ["reduce_scatter", "allgather"], costs "2*n*(n-1)", "2*(n-1)*s";
        /// [`doubling`](fn@super::doubling).
        Doubling = "doubling" in "allreduce/doubling.rs", "Thakur and others 2005 §4.5",
            needs [MeshOrCube], size Segment(PipelineSegments::FIXED_BYTES), phases ["rounds"], costs "joins", "joins*s";
        /// [`rabenseifner`](fn@super::rabenseifner).
        Rabenseifner = "rabenseifner" in "allreduce/rabenseifner.rs", "Rabenseifner 2004",
            needs [Cube, PowerOfTwo], phases ["reduce_scatter by halving", "allgather by doubling"], costs "2*n*log", "2*(n-1)*s";
        /// [`ring`](fn@super::ring).
        Ring = "ring" in "allreduce/ring.rs", "Patarasuk and Yuan 2009",
            needs [Ring, Commutative], phases ["reduce_scatter", "allgather"], costs "2*n*(n-1)", "2*(n-1)*s";
        /// [`direct`](fn@super::direct), in messages.
        Direct = "direct" in "allreduce/direct.rs", "Nishtala and others, as all read all, each for itself",
            needs [Mesh, ShortElements], phases ["all at once"], costs "n*(n-1)", "n*(n-1)*s";
    }
}

/// Whether data that fit a message go in [`Algorithm::Messages`], unless their broadcast [`is_published`].
#[inline]
fn is_messages(traits: &TeamTraits) -> bool {
    !traits.limits.concurrent || !(traits.mesh || traits.ranks.is_power_of_two())
}

/// Whether data of this length are broadcast from one line to more than one rank, instead of along a tree. A message of one
/// line has no body that others could read where it lies.
#[inline]
fn is_published(bytes: usize, traits: &TeamTraits) -> bool {
    traits.ranks > 2 && bytes > RING_PAYLOAD_BYTES && published(traits).contains(&bytes)
}

/// Whether data of this length go from each rank to all others.
#[inline]
fn is_direct(bytes: usize, traits: &TeamTraits) -> bool {
    traits.mesh && bytes < traits.limits.direct && bytes <= traits.message_bytes
}

/// Bytes from which on data may go otherwise than in [`Algorithm::Messages`] in a team that is asked for no algorithm.
pub(crate) fn short(traits: &TeamTraits) -> usize {
    match is_messages(traits) {
        false => 0,
        true if is_direct(0, traits) => 0,
        true if is_published(RING_PAYLOAD_BYTES + 1, traits) => RING_PAYLOAD_BYTES + 1,
        true => traits.message_bytes + 1,
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
fn usual(request: &Request, traits: &TeamTraits) -> Algorithm {
    let (n, bytes, message_bytes) = (traits.ranks, request.bytes, traits.message_bytes);
    let short_elements = request.element <= message_bytes;
    match bytes {
        _ if !is_messages(traits) => in_rounds(request, traits),
        _ if is_direct(bytes, traits) && short_elements => Algorithm::Direct,
        _ if bytes <= traits.limits.whole && is_published(bytes, traits) => Algorithm::Trees,
        _ if bytes <= message_bytes => Algorithm::Messages,
        _ if n == 2 && bytes <= traits.one_way_bytes(1) && short_elements => Algorithm::Messages,
        _ if bytes <= traits.limits.whole && n == 2 => Algorithm::Doubling,
        _ if bytes <= traits.limits.whole => Algorithm::Trees,
        _ if traits.mesh => Algorithm::Owners,
        _ => Algorithm::Trees,
    }
}

/// The algorithm of a team whose ranks all run at the same time: a round costs the same, however many send in it.
#[inline]
fn in_rounds(request: &Request, traits: &TeamTraits) -> Algorithm {
    let (bytes, message_bytes) = (request.bytes, traits.message_bytes);
    match bytes {
        _ if bytes < traits.limits.whole && bytes <= message_bytes => Algorithm::Doubling,
        // Halves of the data fit a message.
        _ if traits.ranks.is_power_of_two() && bytes <= 2 * message_bytes => {
            Algorithm::Rabenseifner
        }
        _ if traits.mesh => Algorithm::Owners,
        _ => Algorithm::Trees,
    }
}
