//! The algorithms of gathers, and the choice between them.

use crate::pipeline::PipelineSegments;
use crate::registry::{Request, Selection, TeamTraits, algorithms};
use crate::token::TOKEN_BYTES;

algorithms! {
    /// The algorithms of gathers. Parts of different lengths go by [`direct`](fn@super::direct) where all ranks are
    /// linked, unless another algorithm is asked for.
    pub enum Algorithm: Gather {
        /// [`direct`](fn@super::direct), in messages alone: the others write.
        Push = "push" in "gather/direct.rs", "NUMA clusters §3.2",
            needs [Mesh], phases ["all at once"], costs "n-1", "(n-1)*s";
        /// [`direct`](fn@super::direct), lent: the root reads.
        Pull = "pull" in "gather/direct.rs", "NUMA clusters §3.2",
            needs [Mesh], phases ["all at once"], costs "n-1", "(n-1)*s";
        /// [`put`](fn@super::put): the others write long parts at the same time.
        Put = "put" in "gather/put.rs", "as a put of one-sided communication: MPI 4.1 §12",
            needs [Mesh, InPlace], phases ["all at once"], costs "2*(n-1)", "(n-1)*s";
        /// [`binomial`](fn@super::binomial), in one piece.
        Binomial = "binomial" in "gather/binomial.rs", "Thakur and others 2005 §2",
            needs [Steps], phases ["up the tree"], costs "n-1", "ones*s";
        /// [`binomial`](fn@super::binomial), in pipeline segments of [`PipelineSegments::FIXED`](crate::PipelineSegments).
        Fixed = "fixed" in "gather/binomial.rs", "NUMA clusters §3.2",
            needs [Steps], size SegmentOfAll(PipelineSegments::FIXED_BYTES), phases ["up the tree"], costs "n-1", "ones*s";
        /// [`token_ring`](fn@super::token_ring).
        Token = "token" in "gather/token.rs", "NUMA clusters §3.2; above 64 KiB in two transfers; n − 2 notifications",
            needs [Mesh], size Segment(TOKEN_BYTES), phases ["around the ring"], costs "n-1", "(n-1)*s";
    }
}

/// Returns the algorithm that was asked for if the team can run it, else one by length. For parts of different
/// lengths, of which no rank knows all, `Put` and `Pull` stand for a choice that both ends make part by part.
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
    match request.bytes {
        _ if !traits.mesh => Algorithm::Binomial,
        _ if traits.travel_together(request) => Algorithm::Binomial,
        bytes if request.equal_parts && bytes <= traits.one_way_bytes(request.element) => {
            Algorithm::Push
        }
        // Their ranks copy long parts at the same time. Of the lengths of uneven ones no rank knows all.
        bytes if !traits.copies && (bytes > traits.limits.put || !request.equal_parts) => {
            Algorithm::Put
        }
        _ => Algorithm::Pull,
    }
}
