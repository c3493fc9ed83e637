//! What each rank runs its barriers and short broadcasts over, and which lines that takes.
//!
//! Depends on plans, options and packages alone, so that all processes of a team come to the same.

use crate::algorithms::Algorithms;
use crate::barrier::{
    self, LineSteps, Steps, Ways, best_m, multi_m_rounds, package_root_rounds, pair_wise_rounds,
};
use crate::broadcast::{self, AllLines};
use crate::groups::{GroupRoute, Groups};
use crate::lane::Barrier;
use crate::plans::{BarrierPlan, Plans};
use crate::route::Route;
use corecast_plan::Rounds;
use corecast_plan::groups::Grouped;

/// Largest team in which each rank can have a line for all others: more of them would poll it than a
/// line can be given to quickly, and lines would take memory by the square.
const ALL_LINES_RANKS_MAX: usize = 16;

/// Shared lines, and the part of each rank.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) groups: Groups,
    pub(crate) barriers: Vec<Barrier>,
    /// The way out of broadcasts over groups.
    pub(crate) fan_outs: Option<Vec<GroupRoute>>,
    /// A line of each rank for all others.
    pub(crate) all_lines: Option<Vec<AllLines>>,
}

impl Layout {
    /// `nodes` stands for packages where the plans have none.
    pub(crate) fn new(plans: &Plans, asked: &Algorithms, nodes: Option<&[u32]>) -> Self {
        let n = plans.len();
        let mut groups = Groups::new(n);
        let packages = plans.packages().or(nodes);
        let barriers = barriers(plans, asked.barrier, packages, &mut groups);
        let fan_outs = plans
            .broadcast_groups()
            .map(|plan| GroupRoute::fan_out(plan, &mut groups));
        let wanted = asked.broadcast == Some(broadcast::Algorithm::Line);
        let all_lines = (wanted && n <= ALL_LINES_RANKS_MAX).then(|| AllLines::all(n, &mut groups));
        Self {
            groups,
            barriers,
            fan_outs,
            all_lines,
        }
    }
}

fn barriers(
    plans: &Plans,
    asked: Option<barrier::Algorithm>,
    packages: Option<&[u32]>,
    groups: &mut Groups,
) -> Vec<Barrier> {
    use barrier::Algorithm::{
        Dissemination, Groups as InGroups, MWay, MultiM, PackageRoots, PairWise, Tree,
    };
    let n = plans.len();
    let mut over_lines = |rounds: &Rounds| -> Vec<Barrier> {
        let steps = LineSteps::all(rounds, groups);
        steps.into_iter().map(Barrier::Lines).collect()
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
            ways.map(Barrier::Groups).collect()
        }
        (Some(InGroups), _) => {
            let flat = Grouped::flat(n, plans.broadcast().root());
            let ways = Ways::all(&flat, &flat, groups).into_iter();
            ways.map(Barrier::Groups).collect()
        }
        (Some(MWay), BarrierPlan::Rounds(rounds)) => over_lines(rounds),
        (Some(MWay), _) => over_lines(&Rounds::dissemination(n, best_m(n) + 1)),
        (Some(MultiM), _) => over_lines(&multi_m_rounds(n)),
        (Some(PairWise), _) => over_lines(&pair_wise_rounds(&packages())),
        (Some(PackageRoots), _) => over_lines(&package_root_rounds(&packages())),
    }
}

fn trees(fan_in: &corecast_plan::Tree, fan_out: &corecast_plan::Tree) -> Vec<Barrier> {
    let ways = Route::all(fan_in).into_iter().zip(Route::all(fan_out));
    ways.map(|(fan_in, fan_out)| Barrier::Tree { fan_in, fan_out })
        .collect()
}

fn notified(rounds: &Rounds) -> Vec<Barrier> {
    (0..rounds.len())
        .map(|rank| Barrier::Rounds(Steps::of(rounds, rank)))
        .collect()
}
