//! The algorithms of barriers, and the choice between them.

use crate::plans::BarrierPlan;
use crate::registry::algorithms;

algorithms! {
    /// The algorithms of barriers. If none is asked for, the barrier's plan decides: trees, rounds of
    /// notifications, trees with groups, or one line.
    pub enum Algorithm: Barrier {
        /// [`tree`](fn@super::tree), over the trees of the barrier's plan, else those of reductions and broadcasts.
        Tree = "tree" in "barrier/tree.rs", "Smelt §4.2",
            needs [Plan], phases ["fan in", "fan out"], costs "2*(n-1)", "0";
        /// [`dissemination`](fn@super::dissemination), over the rounds of the barrier's plan, else over rounds of
        /// radix 2.
        Dissemination = "dissemination" in "barrier/dissemination.rs", "Hensgen, Finkel and Manber 1988; this figure with radix 2",
            needs [Plan], phases ["rounds"], costs "n*log", "0";
        /// [`groups`](fn@super::groups), over the groups of the barrier's plan, else one group of all other ranks.
        Groups = "groups" in "barrier/groups.rs", "CLa §3.1 and §3.2, notification trees with groups; one group is *same line*",
            needs [GroupsOrOne], phases ["fan in", "fan out"], costs "2*(n-1)", "0";
        /// [`m_way`](fn@super::m_way), over the rounds of the barrier's plan, else those of the [best
        /// m](fn@super::best_m).
        MWay = "m-way" in "barrier/m_way.rs", "CLa §3.3.1, single-use lines; over all packages the first variant of §3.3.2",
            needs [], phases ["rounds"], costs "ways", "0";
        /// [`m_way`](fn@super::m_way), over [`multi_m_rounds`](fn@super::multi_m_rounds).
        MultiM = "multi-m" in "barrier/multi_m.rs", "CLa §3.3.1; run by `barrier/m_way.rs`",
            needs [], phases ["rounds"], costs "mixed", "0";
        /// [`m_way`](fn@super::m_way), over [`pair_wise_rounds`](fn@super::pair_wise_rounds).
        PairWise = "pair-wise" in "barrier/pair_wise.rs", "CLa §3.3.2, second variant; run by `barrier/m_way.rs`",
            needs [Packages], phases ["rounds in packages", "one round between them"], costs "inside+across", "0";
        /// [`m_way`](fn@super::m_way), over [`package_root_rounds`](fn@super::package_root_rounds).
        PackageRoots = "package-roots" in "barrier/package_roots.rs", "CLa §3.3.2, third variant; run by `barrier/m_way.rs`",
            needs [Packages], phases ["rounds in packages", "one round between roots", "fan out in packages"], costs "inside+across", "0";
        /// [`counter`](fn@super::counter): one line for all ranks, without a plan.
        Counter = "counter" in "barrier/counter.rs", "the centralised barrier of Mellor-Crummey and Scott 1991; whoever comes last lets all go",
            needs [], phases ["arrivals", "release"], costs "across+n-1", "0";
    }
}

/// Returns the algorithm that was asked for, else that of the plan.
pub fn choose(asked: Option<Algorithm>, plan: &BarrierPlan) -> Algorithm {
    asked.unwrap_or(match plan {
        BarrierPlan::Trees { .. } => Algorithm::Tree,
        BarrierPlan::Rounds(_) => Algorithm::Dissemination,
        BarrierPlan::Groups { .. } => Algorithm::Groups,
        BarrierPlan::Counter(_) => Algorithm::Counter,
    })
}
