//! What a replicated structure is made with, and why a call on its replicas fails.

use corecast_wire::WaitConfig;

/// How many replicas there are, and how their threads wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The replicas that there are from the beginning, one per NUMA node for instance.
    pub replicas: usize,
    /// The most handles that each replica has at a time. A handle's place takes 640 bytes.
    pub handles: usize,
    /// The number of writes by which a replica may lag. One that lags more holds nobody up: the log goes on without it, and it
    /// is installed again from a snapshot of another one when its threads come back.
    pub log_len: u64,
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
