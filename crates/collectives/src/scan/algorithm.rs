//! The algorithms of scans, and the choice between them.

use crate::pipeline::PipelineSegments;
use crate::registry::{Request, Selection, TeamTraits, algorithms};

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
        false => match traits.segments {
            Some(model) => {
                let segment = model.of_chain(request.bytes, traits.ranks);
                Selection::in_segments(Algorithm::Chain, segment.unwrap_or(request.bytes))
            }
            None => Algorithm::Chain.into(),
        },
    }
}

/// Most ranks of a team that share hardware threads whose short scans go along the ranks: calls in a row overlap there, which
/// share the threads with nobody who waits. Of the time of [`doubling`](fn@super::doubling) such calls of 8 B to 4 KiB take 0.3
/// to 0.5, and calls after a barrier 0.8 to 1.05 of 3 and 4 ranks and 1.1 to 1.5 of 8 (2-core KVM guest, AMD EPYC, November 2026).
const CHAIN_SHARED_MAX: usize = 8;

/// Whether short scans, too, go along the ranks.
#[inline]
pub(crate) fn is_chain(traits: &TeamTraits) -> bool {
    let few = match traits.limits.concurrent {
        true => 2,
        false => CHAIN_SHARED_MAX,
    };
    traits.ranks <= few || traits.deterministic
}
