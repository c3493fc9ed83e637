//! The layout of a team: each rank's part of barriers and short broadcasts, and the shared lines that they need.
//!
//! It depends on plans, options and packages alone, so all processes of a team compute the same layout.

use crate::barrier::{self, BarrierSchedule};
use crate::broadcast::{self, AllLines};
use crate::groups::{GroupRoute, Groups};
use crate::plans::Plans;
use crate::preferences::Algorithms;
use crate::registry::ALL_LINES_RANKS_MAX;

/// The shared lines of a team, and each rank's part of the operations over them.
#[derive(Debug)]
pub struct Layout {
    /// All lines that groups share.
    pub groups: Groups,
    pub(crate) barrier_algorithm: barrier::Algorithm,
    pub(crate) barriers: Vec<BarrierSchedule>,
    /// Each rank's part of broadcasts over groups, if the plans have such.
    pub(crate) fan_outs: Option<Vec<GroupRoute>>,
    /// The lines on which each rank publishes for all others, if the team has such.
    pub(crate) all_lines: Option<Vec<AllLines>>,
    /// Whether broadcasts use these lines where no algorithm was asked for.
    pub(crate) publishes: bool,
}

/// Whether broadcasts of `n` ranks use a line of each rank for all others at some lengths for which no algorithm
/// was asked. `oversubscribed` says that ranks share hardware threads.
pub(crate) fn has_rings(n: usize, oversubscribed: bool) -> bool {
    n == 2 || oversubscribed
}

/// Whether each of `n` ranks gets a line on which it publishes for all others.
pub(crate) fn has_lines(n: usize, asked: &Algorithms, oversubscribed: bool) -> bool {
    let wanted = asked.broadcast.ranges().any(|(_, choice)| match choice {
        None => has_rings(n, oversubscribed),
        choice => choice == Some(broadcast::Algorithm::Line),
    });
    wanted && (2..=ALL_LINES_RANKS_MAX).contains(&n)
}

impl Layout {
    /// The layout of a team. `nodes` has each rank's NUMA node, which stands for its package where the plans have
    /// no packages. `oversubscribed` says that ranks share hardware threads; all processes of the team must agree
    /// on it.
    pub fn new(
        plans: &Plans,
        asked: &Algorithms,
        (nodes, oversubscribed): (Option<&[u32]>, bool),
    ) -> Self {
        let n = plans.len();
        let mut groups = Groups::new(n);
        let packages = plans.packages().or(nodes);
        let barrier_algorithm = barrier::choose(asked.barrier, plans.barrier());
        let barriers = BarrierSchedule::all(plans, barrier_algorithm, packages, &mut groups);
        let fan_outs = plans
            .broadcast_groups()
            .map(|plan| GroupRoute::fan_out(plan, &mut groups));
        let all_lines = has_lines(n, asked, oversubscribed).then(|| AllLines::all(n, &mut groups));
        Self {
            groups,
            barrier_algorithm,
            barriers,
            fan_outs,
            all_lines,
            publishes: has_rings(n, oversubscribed),
        }
    }
}
