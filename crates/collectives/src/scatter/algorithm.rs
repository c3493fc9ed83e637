//! The algorithms of scatters, and the choice between them.

use crate::pipeline::PipelineSegments;
use crate::registry::{Request, Selection, TeamTraits, algorithms};
use crate::token::TOKEN_BYTES;

algorithms! {
    /// The algorithms of scatters. Parts of different lengths go by [`direct`](fn@super::direct) where all ranks
    /// are linked, unless another algorithm is asked for.
    pub enum Algorithm: Scatter {
        /// [`direct`](fn@super::direct), in messages alone: the root writes.
        Push = "push" in "scatter/direct.rs", "NUMA clusters §3.2",
            needs [Mesh], phases ["all at once"], costs "n-1", "(n-1)*s/n";
        /// [`direct`](fn@super::direct), lent: the others read.
        Pull = "pull" in "scatter/direct.rs", "NUMA clusters §3.2",
            needs [Mesh], phases ["all at once"], costs "n-1", "(n-1)*s/n";
        /// [`binomial`](fn@super::binomial), in one piece.
        Binomial = "binomial" in "scatter/binomial.rs", "Thakur and others 2005 §2",
            needs [Steps], phases ["down the tree"], costs "n-1", "ones*s/n";
        /// [`binomial`](fn@super::binomial), in pipeline segments of [`PipelineSegments::FIXED`](crate::PipelineSegments).
        Fixed = "fixed" in "scatter/binomial.rs", "NUMA clusters §3.2",
            needs [Steps], size SegmentOfAll(PipelineSegments::FIXED_BYTES), phases ["down the tree"], costs "n-1", "ones*s/n";
        /// [`binomial`](fn@super::binomial), in pipeline segments of [`PipelineSegments::DYNAMIC`](crate::PipelineSegments).
        Dynamic = "dynamic" in "scatter/binomial.rs", "NUMA clusters §3.2",
            needs [Steps], size SegmentOfAll(PipelineSegments::DYNAMIC_BYTES), phases ["down the tree"], costs "n-1", "ones*s/n";
        /// [`token_ring`](fn@super::token_ring).
        Token = "token" in "scatter/token.rs", "NUMA clusters §3.2; above 64 KiB in two transfers; n − 2 notifications",
            needs [Mesh], size Segment(TOKEN_BYTES), phases ["around the ring"], costs "n-1", "(n-1)*s/n";
    }
}

/// Returns the algorithm that was asked for if the team can run it, else one by length. For parts of different
/// lengths, of which no rank knows all, `Pull` stands for a choice that both ends make part by part.
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
        bytes if request.equal_parts && bytes <= traits.one_way_bytes(request.element) => {
            Algorithm::Push
        }
        _ => Algorithm::Pull,
    }
}
