//! The algorithms of allreductions, and the choice between them.

use crate::pipeline::PipelineSegments;
use crate::registry::{Request, Selection, TeamTraits, algorithms};

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
    }
}

/// Longest data (bytes) that two ranks exchange whole. Two threads on two cores of an Intel Xeon, `examples/sizes
/// allreduce`: at 2 KiB [`owners`](fn@super::owners) takes 1.24 times as long, at 4 KiB 0.89 times.
const EXCHANGE_BYTES_MAX: usize = 2 * 1024;

/// Longest data (bytes) that more ranks combine along trees if they share hardware threads. 8 threads on two cores,
/// `examples/sizes allreduce 8`: trees take 0.6 to 0.75 times as long as [`owners`](fn@super::owners) up to 16 KiB, with ordered
/// operators 0.75 to 0.9 times up to 8 KiB; beyond, they stop being faster.
const TREES_BYTES_MAX: usize = 16 * 1024;

/// Whether data that fit a message go in [`Algorithm::Messages`], whatever their length.
#[inline]
pub(crate) fn is_messages(traits: &TeamTraits) -> bool {
    !traits.limits.concurrent || !(traits.mesh || traits.ranks.is_power_of_two())
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
        _ if bytes <= message_bytes => Algorithm::Messages,
        // Two messages take 0.8 times as long as a loan, at 512 bytes; three take 1.25 times as long.
        _ if n == 2 && bytes <= 2 * message_bytes && short_elements => Algorithm::Messages,
        _ if n == 2 && bytes <= EXCHANGE_BYTES_MAX => Algorithm::Doubling,
        _ if n > 2 && bytes <= TREES_BYTES_MAX => Algorithm::Trees,
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
