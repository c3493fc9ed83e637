//! A rank's end of its link to one peer.

use corecast_wire::claim_pause::ClaimPause;
use corecast_wire::queue::{Receiver, Sender};
use corecast_wire::{Line, LineRef, Parker, Signal, Swaps};

/// A rank's end of the link to one peer: a flag and a queue in each direction.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) peer: usize,
    /// Raised by this rank, in the peer's memory.
    pub(crate) out_flag: Signal,
    /// The parker that the peer sleeps on, and the token of its wait for `out_flag`.
    pub(crate) out_parker: LineRef<Line<Parker>>,
    pub(crate) out_token: u32,
    /// Raised by the peer, in this rank's memory.
    pub(crate) in_flag: Signal,
    pub(crate) in_token: u32,
    /// Notifications sent and received so far.
    pub(crate) out_count: u64,
    pub(crate) in_count: u64,
    /// What both ranks give each other.
    pub(crate) swaps: Swaps,
    /// How waits for either are begun.
    pub(crate) flag_pause: ClaimPause,
    pub(crate) swap_pause: ClaimPause,
    /// Whether both flags are in one line, which a rank that waits can take, as it will write its own flag there.
    pub(crate) one_line: bool,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// The token of this rank's wait for a loan of the peer; the next higher one is that of its wait for an
    /// acknowledgement.
    pub(crate) loan_token: u32,
}
