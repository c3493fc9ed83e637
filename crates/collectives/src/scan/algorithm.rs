//! The algorithms of scans, and the choice between them.

use crate::pipeline::PipelineSegments;
use crate::registry::{Request, SegmentModel, Selection, TeamTraits, algorithms};

algorithms! {
    /// The algorithms of inclusive and exclusive scans. All keep the order of ranks; deterministic teams use
    /// [`chain`](fn@super::chain) for every length, so that the order of reduction is always that of a loop over
    /// the ranks.
    pub enum Algorithm: Scan {
        /// [`chain`](fn@super::chain).
        Chain = "chain" in "scan/chain.rs", "along the ranks",
            needs [Ring], size Segment(PipelineSegments::FIXED_BYTES), phases ["along the ranks"], costs "n-1", "(n-1)*s";
        /// [`doubling`](fn@super::doubling).
        Doubling = "doubling" in "scan/doubling.rs", "Hillis and Steele 1986",
            needs [Steps, AnyOrder], size Segment(PipelineSegments::FIXED_BYTES), phases ["rounds"], costs "n*log-power+1", "(n*log-power+1)*s";
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
    let short = request.bytes <= traits.message_bytes;
    match short {
        true if is_chain(traits) => Algorithm::Chain.into(),
        true => Algorithm::Doubling.into(),
        false => {
            let (bytes, n) = (request.bytes, traits.ranks);
            let best = |model: SegmentModel| model.of_chain(bytes, n).unwrap_or(bytes);
            let overlapped =
                bytes > PipelineSegments::WHOLE_BYTES && bytes <= traits.overlapped_bytes();
            let short = overlapped.then_some(PipelineSegments::DYNAMIC_BYTES);
            Selection::in_segments(Algorithm::Chain, short.or(traits.segments.map(best)))
        }
    }
}

/// Whether short scans, too, go along the ranks.
///
/// That takes n − 1 messages in a row, and [`doubling`](fn@super::doubling) ⌈log2 n⌉ rounds, in each of which all ranks on a hardware
/// thread have a turn. Of the time of doubling, calls in a row of 8 B to 4 KiB of 8, 12, 16 and 32 threads on two hardware threads
/// take 0.2 to 1.0, as ranks run ahead, and calls after a barrier 0.9 to 1.35 (KVM guest, AMD EPYC, 28 November 2026).
#[inline]
pub(crate) fn is_chain(traits: &TeamTraits) -> bool {
    let rounds = traits.ranks.next_power_of_two().ilog2() as usize;
    let is_shared = traits.sharing > 1 && traits.ranks <= rounds * traits.sharing + 1;
    traits.ranks <= 2 || traits.deterministic || is_shared
}
