//! What a leader has been given and does not propose yet: a member has to learn first what was proposed before.
//!
//! A member that gets no CPU for a moment would need a snapshot otherwise, and all wait for whoever makes it.

use super::super::Submission;
use std::collections::VecDeque;

/// The submissions, in the order in which they came.
#[derive(Debug)]
pub(super) struct Held<C> {
    submissions: VecDeque<Submission<C>>,
    max: usize,
    /// Since when a member lags.
    pub(super) since_ns: Option<u64>,
}

impl<C> Held<C> {
    /// Keeps at most `max`.
    pub(super) fn new(max: usize) -> Self {
        Self {
            submissions: VecDeque::new(),
            max,
            since_ns: None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.submissions.is_empty()
    }

    /// Keeps a submission, unless it is there or there is no room: then its origin submits it again.
    pub(super) fn keep(&mut self, submission: Submission<C>) {
        let mut latest_first = self.submissions.iter().rev();
        let last = latest_first.find(|it| it.origin == submission.origin);
        let is_new = last.is_none_or(|last| last.number < submission.number);
        if is_new && self.submissions.len() < self.max {
            self.submissions.push_back(submission);
        }
    }

    /// The first one.
    pub(super) fn take(&mut self) -> Option<Submission<C>> {
        self.submissions.pop_front()
    }

    /// Drops all: their origins submit them again, to whoever leads then.
    pub(super) fn clear(&mut self) {
        self.submissions.clear();
    }
}
