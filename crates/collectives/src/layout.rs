//! What each rank runs its barriers and short broadcasts over, and which shared lines that takes.
//!
//! Depends on plans, options and packages alone, so that all processes of a team come to the same.

use crate::barrier::{self, BarrierSchedule};
use crate::broadcast::{self, AllLines};
use crate::groups::{GroupRoute, Groups};
use crate::plans::Plans;
use crate::preferences::Algorithms;
use crate::registry::ALL_LINES_RANKS_MAX;

/// Shared lines, and the part of each rank.
#[derive(Debug)]
pub struct Layout {
    /// All lines that groups share.
    pub groups: Groups,
    pub(crate) barrier_algorithm: barrier::Algorithm,
    pub(crate) barriers: Vec<BarrierSchedule>,
    /// The way out of broadcasts over groups.
    pub(crate) fan_outs: Option<Vec<GroupRoute>>,
    /// A line of each rank for all others.
    pub(crate) all_lines: Option<Vec<AllLines>>,
    /// Whether broadcasts go there without having been asked to.
    pub(crate) publishes: bool,
}

/// Whether broadcasts of `n` ranks take a line of each rank for all others at some lengths, without having been
/// asked to; `oversubscribed`: ranks share hardware threads.
pub(crate) fn has_rings(n: usize, oversubscribed: bool) -> bool {
    n == 2 || oversubscribed
}

/// Whether each of `n` ranks has a line for all others.
pub(crate) fn has_lines(n: usize, asked: &Algorithms, oversubscribed: bool) -> bool {
    let wanted = asked.broadcast.ranges().any(|(_, choice)| match choice {
        None => has_rings(n, oversubscribed),
        choice => choice == Some(broadcast::Algorithm::Line),
    });
    wanted && (2..=ALL_LINES_RANKS_MAX).contains(&n)
}

impl Layout {
    /// The layout of a team. `nodes` stands for packages where the plans have none; whether ranks share hardware
    /// threads, all processes of the team know alike.
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
