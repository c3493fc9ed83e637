//! How an operation can fail, with the ranks and call sites that help to find the mistake.

use crate::operation::Operation;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// Where an operation was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Site {
    /// The operation was called in this process.
    Local(&'static Location<'static>),
    /// The operation was called in another process: "file:line:column", of which a long path keeps only its
    /// end.
    Remote(Arc<str>),
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(site) => site.fmt(f),
            Self::Remote(site) => f.write_str(site),
        }
    }
}

/// How a member left the team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The member was dropped.
    Left,
    /// The member was dropped in a panic.
    Panicked,
    /// The member's process has ended without dropping it: it was killed, or it exited.
    Died,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "has left",
            Self::Panicked => "panicked",
            Self::Died => "has died with its process",
        })
    }
}

/// The operation that a rank is in, or was in last, and its call site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankActivity {
    /// The rank.
    pub rank: usize,
    /// The operation; `None` if it has not begun any.
    pub operation: Option<Operation>,
    /// The call site; `None` if the rank began another operation while it was read.
    pub site: Option<Site>,
}

impl fmt::Display for RankActivity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}", self.rank)?;
        match self.operation {
            Some(operation) => write!(f, ": {operation}")?,
            None => f.write_str(": no operation yet")?,
        }
        match &self.site {
            Some(site) => write!(f, " at {site}"),
            None => Ok(()),
        }
    }
}

/// Who waits for a rank that is gone.
fn waiting(local: &RankActivity, remote: &RankActivity) -> String {
    match local.rank == remote.rank {
        true => "others wait".to_owned(),
        false => format!("{local} waits"),
    }
}

/// Why an operation failed. After any failure but [`Cancelled`](Self::Cancelled) and [`Forked`](Self::Forked)
/// the team is of no more use: all members get that failure from the operation they are in and from every later
/// one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// Two members are in different operations, or have different roots or orders.
    #[error(
        "two different operations met ({local}; {remote}): every member must call the same operations with the same root in the same order"
    )]
    Mismatch {
        /// The rank that noticed.
        local: RankActivity,
        /// The other rank.
        remote: RankActivity,
    },
    /// A message has another length than the one that was expected.
    #[error(
        "{remote} sent {sent} bytes where {local} expects {expected}: every member must give the same number of elements of the same type"
    )]
    Length {
        /// The rank that noticed.
        local: RankActivity,
        /// The other rank.
        remote: RankActivity,
        /// Bytes sent.
        sent: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// A member's lines hold values that no member writes: its process has overwritten the team's memory.
    #[error(
        "{remote} has corrupted the team's memory, found by {local}: look for stray writes there"
    )]
    Corrupt {
        /// The rank that noticed.
        local: RankActivity,
        /// The rank whose lines are corrupt.
        remote: RankActivity,
    },
    /// A member has left while others wait for it.
    #[error("rank {} {how} (last: {remote}) while {} for it", remote.rank, waiting(local, remote))]
    PeerLost {
        /// The rank that waits. It is the rank that is gone where an operation panicked and its own member told the
        /// others.
        local: RankActivity,
        /// The rank that is gone.
        remote: RankActivity,
        /// How it left.
        how: Loss,
    },
    /// The operation was called in a process that was forked from the member's process, or was in flight at the fork: it
    /// goes on in the parent alone.
    #[error(
        "rank {rank} was joined before this process was forked: a forked process is no member; join from it as another rank, or start it anew"
    )]
    Forked {
        /// The rank.
        rank: usize,
    },
    /// A member has [cancelled the team's operations](crate::Member::cancel) from this one on. The team has not
    /// failed: operations before that one complete.
    #[error("the operation of rank {rank} was cancelled: make another team")]
    Cancelled {
        /// The rank whose operation ends.
        rank: usize,
    },
    /// No thread has joined as that rank.
    #[error(
        "rank {missing} was never joined; {local} has waited {waited:?} for it: start a thread for every rank"
    )]
    NeverJoined {
        /// The rank that waits.
        local: RankActivity,
        /// The rank that is missing.
        missing: usize,
        /// How long it has waited.
        waited: Duration,
    },
    /// A member takes longer than the limit that was set.
    #[error(
        "{local} has waited {waited:?} for {remote}, which is longer than the limit that was set"
    )]
    Stalled {
        /// The rank that waits.
        local: RankActivity,
        /// The rank that is late.
        remote: RankActivity,
        /// How long it has waited.
        waited: Duration,
    },
}
