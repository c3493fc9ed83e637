//! What a replicated structure is made with, and why a call on its replicas fails.

use corecast_wire::WaitConfig;

/// How a read finds out whether its replica has all that it must see. Both designs are linearizable, and both can be used at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// It looks whether the log goes on behind what the replica has applied: a line that each write changes.
    Watermark,
    /// It looks whether its own key is noted at its replica: writers note each entry at all replicas before they write it in the log. A
    /// read of a key that nobody writes waits for nobody. It is for structures that tell what operations touch
    /// ([`Dispatch::read_footprint`](crate::Dispatch::read_footprint)); reads of everything look at the log.
    Stable,
}

/// By which design reads are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// By the watermark.
    Watermark,
    /// By notes of what is not stable yet.
    Stable,
    /// By that one under which calls were faster: the first 98,000 calls at most race them, and calls race them again when the mix of reads
    /// and writes has changed much. [`Replicated::reads`](super::Replicated::reads) tells which one it is.
    Raced,
}

/// By which design reads are served at the moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chosen {
    /// The design.
    pub design: Design,
    /// The reason.
    pub why: Why,
}

/// Why reads are served by a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Why {
    /// [`Options::reads`] asked for it.
    Asked,
    /// It is its turn in a race.
    Racing,
    /// It has won a race, or the other one was not clearly faster.
    Raced {
        /// The time of a call by this design over that by the other one.
        ratio: f64,
        /// The share of writes among the calls that raced.
        share: f64,
    },
}

impl Reads {
    /// The design of the first reads.
    pub(super) fn first(self) -> Design {
        match self {
            Self::Watermark | Self::Raced => Design::Watermark,
            Self::Stable => Design::Stable,
        }
    }
}

/// How many replicas there are, and how their threads read and wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The replicas that there are from the beginning, one per NUMA node for instance.
    pub replicas: usize,
    /// The most handles that each replica has at a time. A handle's place takes 640 bytes.
    pub handles: usize,
    /// The number of writes by which a replica may lag. One that lags more holds nobody up: the log goes on without it, and it
    /// is installed again from a snapshot of another one when its threads come back.
    pub log_len: u64,
    /// By which design reads are served.
    pub reads: Reads,
    /// How handles wait; `None` decides that for each handle when it is made, by the number of handles and CPUs.
    pub wait_config: Option<WaitConfig>,
}

impl Default for Options {
    /// One replica, 64 handles, and a log of 65,536 writes, which takes 4 MiB while a replica lags that much.
    fn default() -> Self {
        Self {
            replicas: 1,
            handles: 64,
            log_len: 65_536,
            reads: Reads::Watermark,
            wait_config: None,
        }
    }
}

/// Why a call on replicas failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplicaError {
    /// There is no such replica.
    #[error("there is no replica {replica}: `Replicated::replicas` says which there are")]
    NoSuchReplica {
        /// The number that was asked for.
        replica: usize,
    },
    /// All places for handles are taken.
    #[error(
        "replica {replica} has {handles} handles, as many as it was made for: drop one, or raise `Options::handles`"
    )]
    TooManyHandles {
        /// The replica.
        replica: usize,
        /// The handles that it has.
        handles: usize,
    },
    /// A replica that still has handles cannot be removed.
    #[error("replica {replica} still has {handles} handles: drop them first")]
    HasHandles {
        /// The replica.
        replica: usize,
        /// The handles that it has.
        handles: usize,
    },
    /// The last replica cannot be removed, nor the last one that has not been left behind.
    #[error(
        "replica {replica} is the last one that has all writes: drop the whole structure instead"
    )]
    LastReplica {
        /// The replica.
        replica: usize,
    },
}
