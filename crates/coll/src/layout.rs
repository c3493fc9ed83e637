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
    /// Whether broadcasts go there by Corecast's own choice.
    pub(crate) posts: bool,
}

/// Whether each of `n` ranks can have a line for all others.
pub(crate) fn may_have_lines(n: usize) -> bool {
    n <= ALL_LINES_RANKS_MAX
}

/// Whether broadcasts of such ranks go there by Corecast's own choice, at some lengths.
pub(crate) fn has_posts(n: usize, crowded: bool) -> bool {
    n == 2 || crowded
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
        let posts = has_posts(n, crowded);
        let wanted = asked.broadcast.ranges().any(|(_, choice)| match choice {
            None => posts,
            choice => choice == Some(broadcast::Algorithm::Line),
        });
        let all_lines = (wanted && may_have_lines(n)).then(|| AllLines::all(n, &mut groups));
        Self {
            groups,
            barriers,
            fan_outs,
            all_lines,
            posts,
        }
    }
}
