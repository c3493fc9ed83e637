//! The algorithms of allgathers, and the choice between them.

use crate::registry::{Request, Selection, TeamTraits, algorithms};

algorithms! {
    /// The algorithms of allgathers. For parts of different lengths there are [`direct`](fn@super::direct) and
    /// [`ring`](fn@super::ring) alone.
    pub enum Algorithm: Allgather {
        /// [`direct`](fn@super::direct).
        Direct = "direct" in "allgather/direct.rs", "Nishtala and others, as all read all",
            needs [Mesh], phases ["all at once"], costs "n*(n-1)", "n*(n-1)*s";
        /// [`ring`](fn@super::ring).
        Ring = "ring" in "allgather/ring.rs", "Thakur and others 2005 §4.1",
            needs [Ring], phases ["rounds"], costs "n*(n-1)", "n*(n-1)*s";
        /// [`bruck`](fn@super::bruck).
        Bruck = "bruck" in "allgather/bruck.rs", "Bruck and others 1997 §4",
            needs [Steps, EqualParts], phases ["rounds"], costs "n*log+n-1-log", "n*(n-1)*s";
        /// A gather and a broadcast, each of which chooses its own algorithm.
        Trees = "trees" in "allgather/mod.rs", "a gather and a broadcast, by their own choice",
            needs [Plan, EqualParts], phases ["gather", "broadcast"], costs "2*(n-1)", "(n-1)*s+(n-1)*n*s";
    }
}

/// Most ranks of which none waits if each sends to all others: on simulated machines [`bruck`](fn@super::bruck) takes 1.0 to
/// 1.4 times as long between 8 ranks, and 0.3 to 0.9 times between 12 or more.
const OVERLAPPED_RANKS_MAX: usize = 8;

/// Returns the algorithm that was asked for if the team can run it. Else [`direct`](fn@super::direct) where all
/// ranks are linked, but for short parts of many ranks; [`bruck`](fn@super::bruck) there, and where parts have one length and fit a message, and otherwise
/// [`ring`](fn@super::ring). Of several ranks that share hardware threads one gathers and broadcasts short parts.
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
    let many = traits.ranks > OVERLAPPED_RANKS_MAX;
    match traits.mesh {
        _ if request.equal_parts && traits.publishes && is_gathered(request.bytes, traits) => {
            Algorithm::Trees
        }
        true if many && traits.travel_together(request) => Algorithm::Bruck,
        true => Algorithm::Direct,
        false if request.equal_parts && request.bytes <= traits.message_bytes => Algorithm::Bruck,
        false => Algorithm::Ring,
    }
}

/// Whether one rank gathers parts of `bytes` and broadcasts them from its line. Between processes parts of any length are, if short ones
/// are: a loan goes in pieces, each of which takes messages of its own, and so it does from each to all (8 and 16 processes on two cores,
/// 64 and 256 KiB: 0.15 to 0.9 of the time of [`direct`](fn@super::direct); KVM guest, AMD EPYC, 28 November 2026).
#[inline]
const fn is_gathered(bytes: usize, traits: &TeamTraits) -> bool {
    let limit = traits.limits.gathered;
    bytes < limit || traits.copies && limit > 0
}
