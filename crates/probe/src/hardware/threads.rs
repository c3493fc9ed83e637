//! The two threads of a pair: which one it is, why it stopped, and what it returned.

use super::turns::OtherLeft;
use crate::ProbeError;

/// Which of the two threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairRole {
    Leader,
    Follower,
}

/// Why a thread of a pair or a crew stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    /// For a reason of its own.
    Error(ProbeError),
    /// Because another one is gone; that one knows why.
    OtherGone,
}

impl From<ProbeError> for Stop {
    fn from(error: ProbeError) -> Self {
        Self::Error(error)
    }
}

impl From<OtherLeft> for Stop {
    fn from(_: OtherLeft) -> Self {
        Self::OtherGone
    }
}

/// What a thread returned. Its panic is ours.
pub(crate) fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
