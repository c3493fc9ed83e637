//! How an operation can fail: in the words of whoever has to find the mistake.

use crate::operation::Operation;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// Where an operation was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Site {
    /// In this process.
    Local(&'static Location<'static>),
    /// In another one: the end of "file:line:column".
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
    /// It was dropped.
    Left,
    /// It was dropped in a panic.
    Panicked,
    /// Its process has ended: killed, or by an exit in the middle of things.
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

/// What a rank did last, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankActivity {
    /// The rank.
    pub rank: usize,
    /// The operation; `None` if it has not begun any.
    pub operation: Option<Operation>,
    /// The call site; `None` if it has gone on while it was read.
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

/// Why an operation failed. Afterwards the team is done for: all of its members get the same
/// failure from whatever they are in and from whatever they call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// Two members are in different operations, or have different roots or orders.
    #[error(
        "two different operations met ({local}; {remote}): every member must call the same operations with the same root in the same order"
    )]
    Mismatch {
        /// Who noticed.
        local: RankActivity,
        /// The other one.
        remote: RankActivity,
    },
    /// A message has another length than the one that was expected.
    #[error(
        "{remote} sent {sent} bytes where {local} expects {expected}: every member must give the same number of elements of the same type"
    )]
    Length {
        /// Who noticed.
        local: RankActivity,
        /// The other one.
        remote: RankActivity,
        /// Bytes sent.
        sent: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// What a member has written cannot be: its process has overwritten the team's memory.
    #[error(
        "{remote} has corrupted the team's memory, found by {local}: look for stray writes there"
    )]
    Corrupt {
        /// Who noticed.
        local: RankActivity,
        /// Whose lines are corrupt.
        remote: RankActivity,
    },
    /// A member has left while others wait for it.
    #[error("rank {} {how} (last: {remote}) while {local} waits for it", remote.rank)]
    PeerLost {
        /// Who waits.
        local: RankActivity,
        /// Who is gone.
        remote: RankActivity,
        /// How it went.
        how: Loss,
    },
    /// This process was forked from the one that joined.
    #[error(
        "rank {rank} was joined before this process was forked: a forked process is no member; join from it as another rank, or start it anew"
    )]
    Forked {
        /// The rank.
        rank: usize,
    },
    /// A member has [called the team's operations off](crate::Member::cancel), from this one on. The team
    /// has not failed: whoever is still in an earlier operation completes it.
    #[error("the operation of rank {rank} was cancelled: make another team")]
    Cancelled {
        /// The rank whose operation ends.
        rank: usize,
    },
    /// Nobody has joined as that rank.
    #[error(
        "rank {missing} was never joined; {local} has waited {waited:?} for it: start a thread for every rank"
    )]
    NeverJoined {
        /// Who waits.
        local: RankActivity,
        /// The rank that is missing.
        missing: usize,
        /// For how long.
        waited: Duration,
    },
    /// A member takes longer than the limit that was set.
    #[error(
        "{local} has waited {waited:?} for {remote}, which is longer than the limit that was set"
    )]
    Stalled {
        /// Who waits.
        local: RankActivity,
        /// Who is late.
        remote: RankActivity,
        /// For how long.
        waited: Duration,
    },
}
