//! The algorithms of reductions, and the choice between them.

use crate::pipeline::PipelineSegments;
use crate::registry::{Request, SegmentModel, Selection, TeamTraits, algorithms};

algorithms! {
    /// The algorithms of reductions. For operators that need the order of ranks, and in deterministic teams,
    /// [`ordered`](fn@super::ordered) takes the place of `tree`, and [`ordered_lent`](fn@super::ordered_lent) that
    /// of `lent`.
    pub enum Algorithm: Reduce {
        /// [`tree`](fn@super::tree), in messages, whose payload is in the flag's line.
        Messages = "messages" in "reduce/tree.rs", "Smelt §4.2; CLa §5.1, as each member has lines of its own that its parent reads one by one; in order `reduce/ordered.rs`, with one more to a root other than 0",
            needs [Plan, ShortElements], phases ["up the tree"], costs "n-1", "(n-1)*s";
        /// [`lent`](fn@super::lent), in one piece.
        Whole = "whole" in "reduce/lent.rs", "NUMA clusters §3.1; in order `reduce/ordered.rs`, with one more to a root other than 0",
            needs [Plan], phases ["up the tree"], costs "n-1", "(n-1)*s";
        /// [`lent`](fn@super::lent), in pipeline segments of [`PipelineSegments::FIXED`](crate::PipelineSegments).
        Fixed = "fixed" in "reduce/lent.rs", "NUMA clusters §3.1; in order `reduce/ordered.rs`, with one more to a root other than 0",
            needs [Plan], size Segment(PipelineSegments::FIXED_BYTES), phases ["up the tree"], costs "n-1", "(n-1)*s";
        /// [`lent`](fn@super::lent), in pipeline segments of [`PipelineSegments::DYNAMIC`](crate::PipelineSegments).
        Dynamic = "dynamic" in "reduce/lent.rs", "NUMA clusters §3.1; in order `reduce/ordered.rs`, with one more to a root other than 0",
            needs [Plan], size Segment(PipelineSegments::DYNAMIC_BYTES), phases ["up the tree"], costs "n-1", "(n-1)*s";
        /// [`tree`](fn@super::tree) over [`package_tree`](fn@super::package_tree), and [`lent`](fn@super::lent) for data
        /// that do not fit a message.
        Packages = "packages" in "reduce/packages.rs", "CLa §5.2, Equation 35; run by `reduce/tree.rs`, and for long data by `reduce/lent.rs`",
            needs [Mesh, Packages, Commutative], size Segment(PipelineSegments::FIXED_BYTES), phases ["up in each package", "from each package"], costs "n-1", "(n-1)*s";
        /// [`owners`](fn@super::owners), each of which combines a block in the root's data.
        Owners = "owners" in "reduce/owners.rs", "NUMA clusters §3, as all read all; the results are put as in one-sided communication: MPI 4.1 §12",
            needs [Mesh, InPlace, Commutative], phases ["all at once"], costs "(n-1)*n", "(n-1)*s";
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
    let whole = traits.limits.whole.max(traits.limits.reduced);
    let in_blocks = traits.mesh && !traits.copies && !request.keeps_order;
    match request.bytes {
        bytes if bytes <= traits.one_message_bytes() => Algorithm::Messages.into(),
        // All combine a block at the same time, and nothing is copied.
        bytes if in_blocks && bytes > whole => Algorithm::Owners.into(),
        bytes if bytes <= traits.overlapped_bytes() && !request.keeps_order => {
            Algorithm::Dynamic.into()
        }
        // With two ranks no rank passes pipeline segments on, unless the order of ranks takes them by way of
        // rank 0.
        _ if traits.ranks <= 2 && !request.keeps_order => Algorithm::Whole.into(),
        bytes => {
            // Whole, scratch would be as long as the data.
            let best = |model: SegmentModel| model.of_tree(bytes, traits.ranks).unwrap_or(bytes);
            Selection::in_segments(Algorithm::Fixed, traits.segments.map(best))
        }
    }
}
