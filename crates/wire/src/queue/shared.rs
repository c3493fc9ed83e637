//! The shared parts of a queue, and how its two ends notice that the other is gone.

use super::body::BodyLine;
use super::header::Slot;
use crate::Line;
use crate::park::Parker;
use crate::segment::{LineRef, LineSlice, Lines};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// The acknowledgement line, which the receiver writes rarely and the sender reads when it lacks
/// room.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub(crate) struct Ack {
    /// The number of slots that the receiver has read. Only UMP uses it.
    pub(super) read: AtomicU64,
    /// The number of body lines that the receiver has read.
    pub(super) read_body: AtomicU64,
    pub(super) sender_gone: AtomicU32,
    pub(super) receiver_gone: AtomicU32,
}

// SAFETY: atomic integers, zero by default, no Drop.
unsafe impl Lines for Ack {}

/// The tokens for which the two ends of a queue sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// The receiver sleeps for a message.
    pub(crate) message: u32,
    /// The sender sleeps for a free slot.
    pub(crate) room: u32,
}

/// The memory that both ends of a queue share.
#[derive(Clone, Debug)]
pub(super) struct QueueMemory {
    pub(super) ring: LineSlice<Slot>,
    pub(super) body: LineSlice<BodyLine>,
    pub(super) ack: LineRef<Ack>,
}

/// The other end of the queue was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the other end of the queue is gone: nothing more will come or be read")]
pub struct Gone;

/// Ends a wait when the other end is dropped.
pub(super) struct PeerGone<'a>(pub(super) &'a AtomicU32);

impl crate::wait::Watch for PeerGone<'_> {
    type Error = Gone;

    fn check(&mut self, _slept: Duration) -> Result<(), Gone> {
        // Acquire: pairs with the Release in `leave`; what the other end did before is visible,
        // so that a look after this finds its last message.
        if self.0.load(Ordering::Acquire) == 0 {
            Ok(())
        } else {
            Err(Gone)
        }
    }
}

/// Marks an end as gone and wakes the other one.
pub(super) fn leave(gone: &AtomicU32, other: &LineRef<Line<Parker>>, fence: crate::FenceKind) {
    // A model that has failed unwinds out of a scheduler that can take no more steps.
    if crate::sync::model_failed() {
        return;
    }
    // Release: pairs with the Acquire in `PeerGone`.
    gone.store(1, Ordering::Release);
    other.wake_any(fence);
}
