//! The algorithms of all-to-alls, and the choice between them.

use crate::registry::{Request, Selection, TeamTraits, algorithms};

algorithms! {
    /// The algorithms of all-to-alls. Parts of different lengths go by [`direct`](fn@super::direct) where all ranks
    /// are linked, and elsewhere by [`bruck`](fn@super::bruck), padded to the length of the longest.
    pub enum Algorithm: Alltoall {
        /// [`direct`](fn@super::direct).
        Direct = "direct" in "alltoall/direct.rs", "Thakur and others 2005 §4.4",
            needs [Mesh], phases ["all at once"], costs "n*(n-1)", "(n-1)*s";
        /// [`bruck`](fn@super::bruck).
        Bruck = "bruck" in "alltoall/bruck.rs", "Bruck and others 1997 §3",
            needs [Steps], phases ["rotation", "rounds", "rotation"], costs "n*log", "ones*s";
    }
}

/// Returns the algorithm that was asked for if the team can run it, else [`direct`](fn@super::direct) where all
/// ranks are linked, and otherwise [`bruck`](fn@super::bruck).
#[inline]
pub fn choose(
    asked: Option<Selection<Algorithm>>,
    request: &Request,
    traits: &TeamTraits,
) -> Selection<Algorithm> {
    Selection::asked_or(asked, request, traits, |_, traits| usual(traits))
}

/// The algorithm by length where none was asked for.
#[inline]
fn usual(traits: &TeamTraits) -> Algorithm {
    match traits.mesh {
        true => Algorithm::Direct,
        false => Algorithm::Bruck,
    }
}
