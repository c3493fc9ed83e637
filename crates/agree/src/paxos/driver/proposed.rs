//! What a leader has proposed, so that what is submitted again is not proposed again.
//!
//! On a busy machine members wait for each other's turn, and submit again what they have not seen delivered. Each copy would take an
//! entry of the log, and those that lag would lag further.

use std::collections::BTreeMap;

use super::super::{Member, Submission};

/// Of each origin the next number once all is delivered that the leader has proposed; nothing where it does not know yet.
#[derive(Debug, Default)]
pub(super) struct Proposed(Option<BTreeMap<u64, u64>>);

impl Proposed {
    /// Forgets all: a member that leads again may have less to propose than before.
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }

    /// Whether the leader has not proposed a submission yet; notes that it does now. What it has proposed is chosen if it goes on
    /// leading, and otherwise its origin submits it to the next one. The next numbers delivered are `numbers`.
    pub(super) fn is_new<C: Clone>(
        &mut self,
        submission: &Submission<C>,
        numbers: &BTreeMap<u64, u64>,
        leader: &Member<Submission<C>>,
    ) -> bool {
        if seeded!(ProposedAgain) {
            return true;
        }
        let delivered = |origin| numbers.get(&origin).copied().unwrap_or(0);
        let proposed = self.0.get_or_insert_with(|| {
            let mut proposed = BTreeMap::new();
            for it in leader.proposed() {
                let next = proposed.entry(it.origin);
                let next = next.or_insert_with(|| delivered(it.origin));
                *next += u64::from(*next == it.number);
            }
            proposed
        });
        let next = proposed.entry(submission.origin).or_default();
        *next = (*next).max(delivered(submission.origin));
        let is_new = submission.number >= *next;
        // One that has overtaken another is left out when it is delivered, unless this leader knows less than the others.
        *next += u64::from(submission.number == *next);
        is_new
    }
}
