//! The reading ends of a broadcast ring.

use super::slot::{PostHeader, RING_PAYLOAD_BYTES, RING_SLOTS, Ring};
use crate::hardware_wait::Monitored;
use crate::park::Parker;
use crate::queue::body;
use crate::segment::LineRef;
use crate::sync::order;
use crate::{FenceKind, Flag, Line};

/// One reader's end of a broadcast ring, which one thread at a time uses.
#[derive(Debug)]
pub struct Reader {
    ring: Ring,
    /// The number of messages that this reader has given back.
    given_back: LineRef<Flag>,
    writer: LineRef<Line<Parker>>,
    /// Published messages read so far.
    read: u64,
    give_back_at: u64,
    room_token: u32,
    fence: FenceKind,
}

/// The length and tag of a published message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingMessage {
    /// Bytes of payload, which may be any number up to 65,535 if another process is corrupt.
    pub len: usize,
    /// The writer's tag.
    pub tag: u32,
}

/// The number of messages after which a reader gives their slots back: rarely enough to cost little, often
/// enough that the writer finds half of the bodies free.
const GIVE_BACK_STEP: u64 = RING_SLOTS as u64 / 2;

impl Reader {
    pub(super) fn new(
        (ring, given_back): (Ring, LineRef<Flag>),
        writer: LineRef<Line<Parker>>,
        room_token: u32,
        fence: FenceKind,
    ) -> Self {
        Self {
            ring,
            given_back,
            writer,
            read: 0,
            give_back_at: GIVE_BACK_STEP,
            room_token,
            fence,
        }
    }

    /// Goes on after message `number`.
    #[cfg(all(test, not(loom)))]
    pub(super) fn begin_after(&mut self, number: u64) {
        (self.read, self.give_back_at) = (number, number + GIVE_BACK_STEP);
    }

    #[inline(always)]
    fn header(&self) -> Option<PostHeader> {
        let next = self.read + 1;
        // Acquire: synchronises with the Release in `Writer::publish` (Invariant 2).
        let header = PostHeader(self.ring.slot(next).header.load(order::observe_ring()));
        header.is(next).then_some(header)
    }

    /// The length and tag of the next published message, if it is there. The message stays unread.
    #[inline(always)]
    pub fn look(&self) -> Option<RingMessage> {
        self.header().map(|header| RingMessage {
            len: header.len(),
            tag: header.tag(),
        })
    }

    /// The word whose write ends a wait for the next published message.
    #[inline(always)]
    pub fn monitored(&self) -> Monitored<'_> {
        Monitored::new(&self.ring.slot(self.read + 1).header)
    }

    /// Copies the first bytes of the next published message to `payload`, and goes on to the message after
    /// it. Returns whether that message is there. One that was [seen](Self::look) is, unless another process has
    /// overwritten it since; then nothing is copied.
    ///
    /// # Panics
    ///
    /// If the message is there and `payload` is longer than any message.
    ///
    /// # Cost
    ///
    /// One line read, and one per 64 bytes beyond 56; one written per half lap.
    #[inline(always)]
    #[must_use = "false means that another process has corrupted the ring"]
    pub fn take(&mut self, payload: &mut [u8]) -> bool {
        if self.header().is_none() {
            return false;
        }
        let next = self.read + 1;
        let (payload, rest) = payload.split_at_mut(payload.len().min(RING_PAYLOAD_BYTES));
        if !rest.is_empty() {
            // SAFETY: the slot is full (Invariant 2, looked at), which publishes its body, and not given back
            // by this reader, so the writer does not touch it (Invariant 1).
            unsafe { body::read(self.ring.body(next), rest) };
        }
        let len = payload.len();
        let slot = self.ring.slot(next);
        // SAFETY: the slot is full (Invariant 2, looked at) and not given back by this reader, so the
        // writer does not touch it (Invariant 1) and others only read; it holds at least `len` bytes,
        // initialised since the segment was mapped; the caller's bytes cannot overlap it.
        slot.payload.with(|from| unsafe {
            core::ptr::copy_nonoverlapping(from.cast::<u8>(), payload.as_mut_ptr(), len);
        });
        self.read += 1;
        if self.read >= self.give_back_at {
            self.give_back();
        }
        true
    }

    #[inline(never)]
    fn give_back(&mut self) {
        self.give_back_at = self.read + GIVE_BACK_STEP;
        // Release, inside: synchronises with the Acquire in `Writer::look_for_room` (Invariant 1).
        self.given_back.raise(self.read);
        self.writer.wake_for(self.room_token, self.fence);
    }
}
