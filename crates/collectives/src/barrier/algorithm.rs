//! The algorithms of barriers, the choice between them, and a rank's part, whatever the algorithm.

use super::butterfly::{butterfly, butterfly_peers};
use super::counter::counter;
use super::dissemination::{Steps, dissemination};
use super::groups::{GroupSchedule, groups};
use super::m_way::{LineSteps, best_m, m_way};
use super::multi_m::multi_m_rounds;
use super::package_roots::package_root_rounds;
use super::pair_wise::pair_wise_rounds;
use super::tree::tree;
use crate::groups::Groups;
use crate::plans::{BarrierPlan, Plans};
use crate::registry::{Selection, algorithms};
use crate::route::Route;
use corecast_plan::Rounds;
use corecast_plan::groups::Grouped;
use corecast_wire::Fabric;

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
            needs [GroupsOrOne], size Group, phases ["fan in", "fan out"], costs "2*(n-1)", "0";
        /// [`m_way`](fn@super::m_way), over the rounds of the barrier's plan, else those of the [best
        /// m](fn@super::best_m).
        MWay = "m-way" in "barrier/m_way.rs", "CLa §3.3.1, single-use lines; over all packages the first variant of §3.3.2",
            needs [], size Readers, phases ["rounds"], costs "ways", "0";
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
        /// [`butterfly`](fn@super::butterfly), between ranks r and r ^ 2^k in round k.
        Butterfly = "butterfly" in "barrier/butterfly.rs", "Brooks 1986; both ranks of a pair by one line, which they take to look at it",
            needs [Cube, PowerOfTwo], phases ["rounds"], costs "n*log", "0";
    }
}

/// Returns the algorithm that was asked for if these ranks can run it, else that of the plan.
pub fn choose(asked: Option<Selection<Algorithm>>, plans: &Plans) -> Selection<Algorithm> {
    let usual = || match plans.barrier() {
        BarrierPlan::Trees { .. } => Algorithm::Tree,
        // One of these rounds, which takes fewer transfers.
        BarrierPlan::Rounds(_) if plans.len() == 2 => Algorithm::Butterfly,
        BarrierPlan::Rounds(_) => Algorithm::Dissemination,
        BarrierPlan::Groups { .. } => Algorithm::Groups,
        BarrierPlan::Counter(_) => Algorithm::Counter,
    };
    let runs = |one: &Selection<Algorithm>| {
        one.algorithm != Algorithm::Butterfly || plans.len().is_power_of_two()
    };
    asked.filter(runs).unwrap_or_else(|| usual().into())
}

/// A rank's part of the barrier.
#[derive(Clone, Debug)]
pub enum BarrierSchedule {
    /// For [`tree`](fn@tree).
    Tree {
        /// The fan-in.
        fan_in: Route,
        /// The fan-out.
        fan_out: Route,
    },
    /// For [`dissemination`](fn@dissemination).
    Rounds(Steps),
    /// For [`butterfly`](fn@butterfly): the other rank of each round.
    Butterfly(Box<[usize]>),
    /// For [`groups`](fn@groups).
    Groups(GroupSchedule),
    /// For [`m_way`](fn@m_way), whatever the rounds.
    Lines(LineSteps),
    /// For [`counter`](fn@counter): the rank's number of the line, `None` in a team of one.
    Counter(Option<usize>),
}

impl BarrierSchedule {
    /// The schedules of all ranks for one algorithm: over the barrier's plan where that suits the algorithm, else
    /// over trees, rounds or groups of the algorithm's own, as where a size is asked for. Adds the shared lines to
    /// `groups`. `packages` has the package of each rank; without it all ranks are in one package.
    pub fn all(
        plans: &Plans,
        selection: Selection<Algorithm>,
        packages: Option<&[u32]>,
        groups: &mut Groups,
    ) -> Vec<Self> {
        let n = plans.len();
        let packages = || packages.map_or_else(|| vec![0; n], <[u32]>::to_vec);
        let algorithm = selection.algorithm;
        match (selection.size(), algorithm) {
            (Some(m), Algorithm::MWay) => {
                return over_lines(&Rounds::dissemination(n, m + 1), groups);
            }
            (Some(size), Algorithm::Groups) => {
                let root = plans.broadcast().root();
                let schedule = GroupSchedule::sized(size, root, &packages(), groups);
                return schedule.into_iter().map(Self::Groups).collect();
            }
            _ => {}
        }
        match (algorithm, plans.barrier()) {
            (Algorithm::Tree, BarrierPlan::Trees { fan_in, fan_out }) => trees(fan_in, fan_out),
            (Algorithm::Tree, _) => trees(plans.reduce(), plans.broadcast()),
            (Algorithm::Dissemination, BarrierPlan::Rounds(rounds)) => notified(rounds),
            (Algorithm::Dissemination, _) => notified(&Rounds::dissemination(n, 2)),
            (Algorithm::Groups, BarrierPlan::Groups { fan_in, fan_out }) => {
                in_groups(fan_in, fan_out, groups)
            }
            (Algorithm::Groups, _) => {
                let flat = Grouped::flat(n, plans.broadcast().root());
                in_groups(&flat, &flat, groups)
            }
            (Algorithm::MWay, BarrierPlan::Rounds(rounds)) => over_lines(rounds, groups),
            (Algorithm::MWay, _) => over_lines(&Rounds::dissemination(n, best_m(n) + 1), groups),
            (Algorithm::MultiM, _) => over_lines(&multi_m_rounds(n), groups),
            (Algorithm::PairWise, _) => over_lines(&pair_wise_rounds(&packages()), groups),
            (Algorithm::PackageRoots, _) => over_lines(&package_root_rounds(&packages()), groups),
            (Algorithm::Butterfly, _) => {
                assert!(n.is_power_of_two(), "`choose` has chosen, for {n} ranks");
                let peers = |rank| butterfly_peers(rank, n).collect();
                (0..n).map(|rank| Self::Butterfly(peers(rank))).collect()
            }
            (Algorithm::Counter, _) if n == 1 => vec![Self::Counter(None)],
            (Algorithm::Counter, _) => {
                let numbers = groups.counter_barrier((0..n).collect()).into_iter();
                numbers.map(|number| Self::Counter(Some(number))).collect()
            }
        }
    }

    /// Returns when all ranks have come. It costs what the function does that each variant names.
    pub(super) fn run<F: Fabric>(&self, fabric: &mut F) -> Result<(), F::Error> {
        match self {
            Self::Tree { fan_in, fan_out } => tree(fabric, fan_in, fan_out),
            Self::Rounds(steps) => dissemination(fabric, steps),
            Self::Butterfly(peers) => butterfly(fabric, peers),
            Self::Groups(schedule) => groups(fabric, schedule),
            Self::Lines(steps) => m_way(fabric, steps),
            Self::Counter(line) => counter(fabric, *line),
        }
    }
}

fn trees(fan_in: &corecast_plan::Tree, fan_out: &corecast_plan::Tree) -> Vec<BarrierSchedule> {
    let fan_in = Route::all(fan_in);
    let fan_out = Route::all_beside(fan_out, |_| false, &[&fan_in]);
    let schedule = fan_in.into_iter().zip(fan_out);
    schedule
        .map(|(fan_in, fan_out)| BarrierSchedule::Tree { fan_in, fan_out })
        .collect()
}

fn notified(rounds: &Rounds) -> Vec<BarrierSchedule> {
    (0..rounds.len())
        .map(|rank| BarrierSchedule::Rounds(Steps::of(rounds, rank)))
        .collect()
}

fn in_groups(fan_in: &Grouped, fan_out: &Grouped, groups: &mut Groups) -> Vec<BarrierSchedule> {
    let schedule = GroupSchedule::all(fan_in, fan_out, groups).into_iter();
    schedule.map(BarrierSchedule::Groups).collect()
}

fn over_lines(rounds: &Rounds, groups: &mut Groups) -> Vec<BarrierSchedule> {
    let steps = LineSteps::all(rounds, groups).into_iter();
    steps.map(BarrierSchedule::Lines).collect()
}
