//! The two threads of a pair: their roles, why they stop, and what they return.

use super::turns::OtherLeft;
use crate::ProbeError;

/// The role of one of the two threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairRole {
    Leader,
    Follower,
}

/// Why a thread of a pair or a crew stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The thread failed with this error.
    Error(ProbeError),
    /// Another thread is gone, and has the reason.
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

/// Returns the result of a thread; its panic goes on in the caller.
pub(crate) fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
