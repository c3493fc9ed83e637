//! What each rank runs its barriers and short broadcasts over, and which lines that takes.
//!
//! Depends on plans, options and packages alone, so that all processes of a team come to the same.

use crate::algorithms::Algorithms;
use crate::barrier;
use crate::broadcast::{self, AllLines};
use crate::groups::{GroupRoute, Groups};
use crate::plans::Plans;

/// Largest team in which each rank can have a line for all others: more of them would poll it than a
/// line can be given to quickly, and lines would take memory by the square.
const ALL_LINES_RANKS_MAX: usize = 16;

/// Shared lines, and the part of each rank.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) groups: Groups,
    pub(crate) barriers: Vec<barrier::Part>,
    /// The way out of broadcasts over groups.
    pub(crate) fan_outs: Option<Vec<GroupRoute>>,
    /// A line of each rank for all others.
    pub(crate) all_lines: Option<Vec<AllLines>>,
}

impl Layout {
    /// `nodes` stands for packages where the plans have none; whether ranks share cores, all know alike.
    pub(crate) fn new(
        plans: &Plans,
        asked: &Algorithms,
        (nodes, crowded): (Option<&[u32]>, bool),
    ) -> Self {
        let n = plans.len();
        let mut groups = Groups::new(n);
        let packages = plans.packages().or(nodes);
        let barriers = barrier::Part::all(plans, asked.barrier, packages, &mut groups);
        let fan_outs = plans
            .broadcast_groups()
            .map(|plan| GroupRoute::fan_out(plan, &mut groups));
        let wanted = match asked.broadcast {
            None => n == 2 || crowded,
            asked => asked == Some(broadcast::Algorithm::Line),
        };
        let all_lines = (wanted && n <= ALL_LINES_RANKS_MAX).then(|| AllLines::all(n, &mut groups));
        Self {
            groups,
            barriers,
            fan_outs,
            all_lines,
        }
    }
}
