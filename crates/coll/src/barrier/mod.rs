//! Barriers: nobody leaves before everybody has come.

mod counter;
mod dissemination;
mod groups;
mod m_way;
mod multi_m;
mod package_roots;
mod packages;
mod pair_wise;
mod part;
mod tree;

pub use counter::counter;
pub use dissemination::{Steps, dissemination};
pub use groups::{Ways, groups};
pub use m_way::{LineSteps, best_m, m_way};
pub use multi_m::{factors, multi_m_rounds};
pub use package_roots::package_root_rounds;
pub use pair_wise::pair_wise_rounds;
pub use part::Part;
pub use tree::tree;

use crate::algorithms::named;
use crate::failure::Failure;
use crate::lane::Lane;

named! {
    /// How a barrier is done. Without a wish its plan says it: trees, rounds of notifications, trees
    /// with groups, or one line.
    pub enum Algorithm: "barrier" {
        /// [`tree`], over the plan's trees; those of reductions and broadcasts where it has others.
        Tree = "tree",
        /// [`dissemination`], over the plan's rounds; those of radix 2 where it has trees.
        Dissemination = "dissemination",
        /// [`groups`], over the plan's groups; one of all others where it has none.
        Groups = "groups",
        /// [`m_way`], over the plan's rounds; those of the [best m](best_m) where it has trees.
        MWay = "m-way",
        /// [`m_way`], over [`multi_m_rounds`].
        MultiM = "multi-m",
        /// [`m_way`], over [`pair_wise_rounds`].
        PairWise = "pair-wise",
        /// [`m_way`], over [`package_root_rounds`].
        PackageRoots = "package-roots",
        /// [`counter`]: no plan, one line for all.
        Counter = "counter",
    }
}

#[inline(always)]
pub(crate) fn run(lane: &mut Lane) -> Result<(), Failure> {
    lane.tables.barrier.run(&mut lane.fabric)
}
