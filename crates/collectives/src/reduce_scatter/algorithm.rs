//! The algorithms of reduce-scatters, and the choice between them.

use crate::registry::{Request, Selection, TeamTraits, algorithms};

algorithms! {
    /// The algorithms of reduce-scatters.
    pub enum Algorithm: ReduceScatter {
        /// [`owners`](fn@super::owners), or [`owners_ordered`](fn@super::owners_ordered) for operators that need
        /// the order of ranks and for deterministic teams.
        Owners = "owners" in "reduce_scatter/owners.rs", "NUMA clusters §3, as all read all; in order with `reduction_order.rs`",
            needs [Mesh], phases ["all at once"], costs "n*(n-1)", "(n-1)*s";
        /// [`ring`](fn@super::ring).
        Ring = "ring" in "reduce_scatter/ring.rs", "Thakur and others 2005 §4.3",
            needs [Ring, Commutative], phases ["rounds"], costs "n*(n-1)", "(n-1)*s";
        /// [`halving`](fn@super::halving).
        Halving = "halving" in "reduce_scatter/halving.rs", "Thakur and others 2005 §4.3",
            needs [Cube, Commutative, PowerOfTwo], phases ["rounds"], costs "n*log", "(n-1)*s";
        /// One reduction to each rank, of its block.
        Trees = "trees" in "reduce_scatter/mod.rs", "a reduction for each rank, by its own choice",
            needs [Plan], phases ["a reduce for each rank"], costs "n*(n-1)", "(n-1)*s";
    }
}

/// Returns the algorithm that was asked for if the team can run it. Else [`halving`](fn@super::halving) of short blocks
/// between 2^k ranks that all run, and [`owners`](fn@super::owners) where all ranks are linked; elsewhere [`ring`](fn@super::ring), or reductions where the order of ranks must be kept.
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
    let halves = traits.ranks.is_power_of_two() && !request.keeps_order;
    match traits.mesh {
        _ if halves && traits.travel_together(request) => Algorithm::Halving,
        true => Algorithm::Owners,
        false if request.keeps_order => Algorithm::Trees,
        false => Algorithm::Ring,
    }
}
