//! How many replicas there may be, how far they may lag, and how long they wait.

/// Entries by which a replica may lag before it needs a snapshot, and how long members wait for what. The end of a process is
/// told by its parent at once; silence matters only where one is stopped.
pub(super) const OPTIONS: corecast_agree::paxos::Options = corecast_agree::paxos::Options {
    heartbeat_ns: 5_000_000,
    leader_ns: 100_000_000,
    acceptor_ns: 100_000_000,
    resend_ns: 5_000_000,
    pending_max: 128,
    lag_max: 1024,
};

/// Entries that acceptors keep.
pub(super) const WINDOW: usize = 2 * OPTIONS.lag_max as usize;

/// Most replicas that are processes: each pair of them has rings of packets.
pub(super) const REPLICAS_MAX: usize = 16;
