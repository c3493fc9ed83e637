//! How far each rank of a team has come: what is left undone where a team has lost a member.

use crate::OpContext;
use crate::failure::{Loss, RankActivity, Site};
use crate::op_tracker::OpTracker;

/// How far a rank has come in its team's operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The rank.
    pub rank: usize,
    /// The operation that it began last, also if that has failed.
    pub last: RankActivity,
    /// How the rank was lost; `None` for a rank that has a member, or whose member has left.
    pub lost: Option<Loss>,
    /// What its member had ended when it left. `None` for a member that has not left, and for one that was lost with its
    /// process: then operations before `last` have ended unless they were in flight, and nobody knows of `last` itself.
    pub ended: Option<Ended>,
}

/// What a member had ended when it left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The number of operations, from the first one on, that have all completed. Operations are numbered alike on all
    /// ranks, so the least of these numbers in a team counts the operations that have completed everywhere.
    pub completed: u64,
    /// The operations that had begun and have failed, in the order of their calls: the one that blocked, and those in
    /// flight. Operations that were called after the failure are not listed. Empty for ranks of other processes, of which
    /// `completed` alone is known.
    pub failed: Vec<RankActivity>,
}

impl Ended {
    /// What the operations of a rank's contexts have come to.
    pub(crate) fn of<'c>(
        rank: usize,
        tracker: &OpTracker,
        contexts: impl Iterator<Item = &'c OpContext>,
    ) -> Self {
        let begun = tracker.seq();
        // Sequence numbers of operations are the lower 32 bits of the count.
        let number = |seq: u32| begun - u64::from((begun as u32).wrapping_sub(seq));
        let failed = contexts.filter_map(|context| context.fabric.call.failed.get());
        let mut failed: Vec<_> = failed
            .map(|(operation, site)| (number(operation.seq), operation, site))
            .collect();
        failed.sort_unstable_by_key(|&(number, ..)| number);
        let activity = |&(_, operation, site)| RankActivity {
            rank,
            operation: Some(operation),
            site: Some(Site::Local(site)),
        };
        Self {
            completed: failed.first().map_or(begun, |&(first, ..)| first - 1),
            failed: failed.iter().map(activity).collect(),
        }
    }
}
