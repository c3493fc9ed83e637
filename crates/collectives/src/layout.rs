//! The layout of a team: each rank's part of barriers and short broadcasts, the shared lines that they need, and the
//! schedule of a rank, which has its part of all operations.
//!
//! A layout depends on plans, options and packages alone, so all processes of a team compute the same layout.

use crate::barrier::{self, BarrierSchedule};
use crate::broadcast::{self, AllLines};
use crate::combine::Combine;
use crate::groups::{GroupRoute, Groups};
use crate::plans::Plans;
use crate::preferences::Algorithms;
use crate::reduce::{self, ordered_tree, package_tree};
use crate::registry::ALL_LINES_RANKS_MAX;
use crate::registry::Selection;
use crate::route::Route;
use corecast_plan::{Operation, Tree};
use std::sync::{Arc, OnceLock};

/// The shared lines of a team, and each rank's part of the operations over them.
#[derive(Debug)]
pub struct Layout {
    /// All lines that groups share.
    pub groups: Groups,
    barrier_algorithm: Selection<barrier::Algorithm>,
    barriers: Vec<BarrierSchedule>,
    /// Each rank's part of broadcasts over groups, if the plans have such.
    fan_outs: Option<Vec<GroupRoute>>,
    /// The lines on which each rank publishes for all others, if the team has such.
    all_lines: Option<Vec<AllLines>>,
    /// Most ranks on one hardware thread.
    sharing: usize,
    /// The tree of reductions by packages, if they were asked for.
    package_tree: Option<Tree>,
}

/// Whether broadcasts of `n` ranks use a line of each rank for all others at some lengths for which no algorithm
/// was asked. `sharing` is the most ranks on one hardware thread.
pub(crate) fn has_rings(n: usize, sharing: usize) -> bool {
    n == 2 || sharing > 1
}

/// Whether each of `n` ranks gets a line on which it publishes for all others.
pub(crate) fn has_lines(n: usize, asked: &Algorithms, sharing: usize) -> bool {
    let wanted = asked.broadcast.ranges().any(|(_, choice)| match choice {
        None => has_rings(n, sharing),
        Some(choice) => choice.algorithm == broadcast::Algorithm::Line,
    });
    wanted && (2..=ALL_LINES_RANKS_MAX).contains(&n)
}

impl Layout {
    /// The layout of a team. `nodes` has each rank's NUMA node, which stands for its package where the plans have
    /// no packages. `sharing` is the most ranks on one hardware thread; all processes of the team must agree on it.
    pub fn new(
        plans: &Plans,
        asked: &Algorithms,
        (nodes, sharing): (Option<&[u32]>, usize),
    ) -> Self {
        let n = plans.len();
        let mut groups = Groups::new(n);
        let packages = plans.packages().or(nodes);
        let barrier_algorithm = barrier::choose(asked.barrier, plans);
        let barriers = BarrierSchedule::all(plans, barrier_algorithm, packages, &mut groups);
        let fan_outs = plans
            .broadcast_groups()
            .map(|plan| GroupRoute::fan_out(plan, &mut groups));
        let all_lines = has_lines(n, asked, sharing).then(|| AllLines::all(n, &mut groups));
        let mut reductions = asked.reduce.ranges().map(|(_, choice)| choice);
        let package_tree = reductions
            .any(|choice| choice.is_some_and(|one| one.algorithm == reduce::Algorithm::Packages))
            .then(|| packages.map_or_else(|| ordered_tree(n), package_tree));
        Self {
            groups,
            barrier_algorithm,
            barriers,
            fan_outs,
            all_lines,
            sharing,
            package_tree,
        }
    }
}

/// A rank's part of all plans of its team, and the algorithms that were asked for.
#[derive(Debug)]
pub struct RankSchedule {
    pub(crate) barrier: BarrierSchedule,
    /// The algorithm of [`barrier`](Self::barrier).
    pub(crate) barrier_algorithm: Selection<barrier::Algorithm>,
    pub(crate) broadcast: Route,
    /// The rank's part of broadcasts over groups, if the plans have such.
    pub(crate) fan_out: Option<GroupRoute>,
    /// The lines on which each rank publishes for all others, if the team has such.
    pub(crate) all_lines: Option<AllLines>,
    /// Most ranks on one hardware thread.
    pub(crate) sharing: usize,
    pub(crate) reduce: Route,
    /// The route of reductions that keep the order of ranks; they combine in one order whatever the plan.
    pub(crate) ordered: Route,
    /// The route of reductions by packages, if they were asked for.
    pub(crate) packages: Option<Route>,
    /// Whether reductions give the same bits whatever the plan.
    pub(crate) deterministic: bool,
    /// Algorithms that were asked for.
    pub(crate) asked: Algorithms,
    /// The operating system's number of each rank's NUMA node, where it is known.
    nodes: OnceLock<Arc<[u32]>>,
}

impl RankSchedule {
    /// The schedules of all ranks, and the lines that groups share, with which the fabric must be made. `nodes` has
    /// the NUMA node of each rank, where that is known already.
    ///
    /// # Cost
    ///
    /// Time and memory in the square of the number of ranks: each rank knows its neighbour towards every root.
    pub fn all(
        plans: &Plans,
        layout: Layout,
        asked: Algorithms,
        deterministic: bool,
        nodes: Option<&[u32]>,
    ) -> (Vec<Self>, Groups) {
        let n = plans.len();
        fn each<T>(all: Option<Vec<T>>, n: usize) -> Vec<Option<T>> {
            match all {
                Some(all) => all.into_iter().map(Some).collect(),
                None => (0..n).map(|_| None).collect(),
            }
        }
        let lines = each(layout.fan_outs, n)
            .into_iter()
            .zip(each(layout.all_lines, n));
        let copies = |operation| move |root| plans.copies(operation, root);
        let broadcast = Route::all_beside(plans.broadcast(), copies(Operation::Broadcast), &[]);
        let reduce = Route::all_beside(plans.reduce(), copies(Operation::Reduce), &[&broadcast]);
        let ordered = Route::all_beside(&ordered_tree(n), |_| false, &[&broadcast, &reduce]);
        let others = [&broadcast[..], &reduce, &ordered];
        let packages = layout
            .package_tree
            .map(|tree| Route::all_beside(&tree, |_| false, &others));
        let ordered = ordered.into_iter().zip(each(packages, n));
        let routes = broadcast.into_iter().zip(reduce).zip(ordered);
        let nodes: Option<Arc<[u32]>> = nodes.map(Arc::from);
        let schedules = routes.zip(layout.barriers).zip(lines).map(
            |((((broadcast, reduce), (ordered, packages)), barrier), lines)| Self {
                barrier,
                barrier_algorithm: layout.barrier_algorithm,
                broadcast,
                fan_out: lines.0,
                all_lines: lines.1,
                sharing: layout.sharing,
                reduce,
                ordered,
                packages,
                deterministic,
                asked,
                nodes: nodes.clone().map_or_else(OnceLock::new, OnceLock::from),
            },
        );
        (schedules.collect(), layout.groups)
    }

    /// Sets the NUMA node of each rank, unless that was done before.
    pub fn set_nodes(&self, nodes: Arc<[u32]>) {
        // All callers set the same nodes.
        let _ = self.nodes.set(nodes);
    }

    /// Number of ranks.
    #[expect(clippy::len_without_is_empty, reason = "a team has a member")]
    pub fn len(&self) -> usize {
        self.broadcast.len()
    }

    /// Whether a reduction keeps the order of ranks, and combines in the same order each time.
    #[inline(always)]
    pub(crate) fn keeps_order(&self, combine: &impl Combine) -> bool {
        combine.ordered() || self.deterministic
    }

    /// Whether two ranks notify each other at the same time in barriers, so that both flags should share a line. All ranks'
    /// schedules say the same.
    pub fn meet(&self, [a, b]: [usize; 2]) -> bool {
        let rounds = self.barrier_algorithm.algorithm == barrier::Algorithm::Butterfly;
        self.len() == 2 || rounds && (a ^ b).is_power_of_two()
    }

    /// Whether two ranks share a NUMA node; `true` where the nodes are unknown.
    pub(crate) fn near(&self, a: usize, b: usize) -> bool {
        let nodes = self.nodes.get();
        nodes.is_none_or(|nodes| nodes[a] == nodes[b])
    }
}
