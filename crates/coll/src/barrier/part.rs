//! A rank's part of whichever barrier a team has.

use super::{
    Algorithm, LineSteps, Steps, Ways, best_m, counter, dissemination, groups, m_way,
    multi_m_rounds, package_root_rounds, pair_wise_rounds, tree,
};
use crate::groups::Groups;
use crate::plans::{BarrierPlan, Plans};
use crate::route::Route;
use corecast_plan::Rounds;
use corecast_plan::groups::Grouped;
use corecast_wire::Fabric;

/// A rank's part of the barrier's plan.
#[derive(Clone, Debug)]
pub enum Part {
    /// Of [`tree`](fn@tree).
    Tree {
        /// The way in.
        fan_in: Route,
        /// The way out.
        fan_out: Route,
    },
    /// Of [`dissemination`](fn@dissemination).
    Rounds(Steps),
    /// Of [`groups`](fn@groups).
    Groups(Ways),
    /// Of [`m_way`](fn@m_way).
    Lines(LineSteps),
    /// Of [`counter`](fn@counter): the rank's number of the line, none alone.
    Counter(Option<usize>),
}

impl Part {
    /// The parts of all ranks, by the algorithm that was asked for or else the plan's. The lines that
    /// groups share are taken from `groups`; `packages` says in which package each rank is, all in one
    /// without.
    pub fn all(
        plans: &Plans,
        asked: Option<Algorithm>,
        packages: Option<&[u32]>,
        groups: &mut Groups,
    ) -> Vec<Self> {
        use Algorithm::{
            Counter, Dissemination, Groups as InGroups, MWay, MultiM, PackageRoots, PairWise, Tree,
        };
        let n = plans.len();
        let mut over_lines = |rounds: &Rounds| -> Vec<Self> {
            let steps = LineSteps::all(rounds, groups);
            steps.into_iter().map(Self::Lines).collect()
        };
        let one_package = || vec![0; n];
        let packages = || packages.map_or_else(one_package, <[u32]>::to_vec);
        match (asked, plans.barrier()) {
            (None | Some(Tree), BarrierPlan::Trees { fan_in, fan_out }) => trees(fan_in, fan_out),
            (Some(Tree), _) => trees(plans.reduce(), plans.broadcast()),
            (None | Some(Dissemination), BarrierPlan::Rounds(rounds)) => notified(rounds),
            (Some(Dissemination), _) => notified(&Rounds::dissemination(n, 2)),
            (None | Some(InGroups), BarrierPlan::Groups { fan_in, fan_out }) => {
                let ways = Ways::all(fan_in, fan_out, groups).into_iter();
                ways.map(Self::Groups).collect()
            }
            (Some(InGroups), _) => {
                let flat = Grouped::flat(n, plans.broadcast().root());
                let ways = Ways::all(&flat, &flat, groups).into_iter();
                ways.map(Self::Groups).collect()
            }
            (Some(MWay), BarrierPlan::Rounds(rounds)) => over_lines(rounds),
            (Some(MWay), _) => over_lines(&Rounds::dissemination(n, best_m(n) + 1)),
            (Some(MultiM), _) => over_lines(&multi_m_rounds(n)),
            (Some(PairWise), _) => over_lines(&pair_wise_rounds(&packages())),
            (Some(PackageRoots), _) => over_lines(&package_root_rounds(&packages())),
            (Some(Counter), _) | (None, BarrierPlan::Counter(_)) if n == 1 => {
                vec![Self::Counter(None)]
            }
            (Some(Counter), _) | (None, BarrierPlan::Counter(_)) => {
                let numbers = groups.meeting((0..n).collect()).into_iter();
                numbers.map(|number| Self::Counter(Some(number))).collect()
            }
        }
    }

    /// The barrier.
    ///
    /// # Errors
    ///
    /// Those of the fabric.
    ///
    /// # Cost
    ///
    /// That of the function that each variant names.
    #[inline(always)]
    pub fn run<F: Fabric>(&self, fabric: &mut F) -> Result<(), F::Error> {
        match self {
            Self::Tree { fan_in, fan_out } => tree(fabric, fan_in, fan_out),
            Self::Rounds(steps) => dissemination(fabric, steps),
            Self::Groups(ways) => groups(fabric, ways),
            Self::Lines(steps) => m_way(fabric, steps),
            Self::Counter(line) => counter(fabric, *line),
        }
    }
}

fn trees(fan_in: &corecast_plan::Tree, fan_out: &corecast_plan::Tree) -> Vec<Part> {
    let ways = Route::all(fan_in).into_iter().zip(Route::all(fan_out));
    ways.map(|(fan_in, fan_out)| Part::Tree { fan_in, fan_out })
        .collect()
}

fn notified(rounds: &Rounds) -> Vec<Part> {
    (0..rounds.len())
        .map(|rank| Part::Rounds(Steps::of(rounds, rank)))
        .collect()
}
