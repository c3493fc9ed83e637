//! The writing end of a broadcast ring.

use super::slot::{PostHeader, RING_PAYLOAD_BYTES, Ring};
use crate::park::Parker;
use crate::queue::{TAG_MAX, body};
use crate::segment::{LineRef, LineSlice};
use crate::sync::{mutated, order};
use crate::{FenceKind, Flag, Line};

/// The writing end of a broadcast ring, which one thread at a time uses.
#[derive(Debug)]
pub struct Writer {
    ring: Ring,
    read: LineSlice<Flag>,
    bells: Box<[LineRef<Line<Parker>>]>,
    /// The number of messages published so far.
    published: u64,
    /// The number of messages that every reader is known to have given back.
    freed: u64,
    token: u32,
    fence: FenceKind,
}

impl Writer {
    pub(super) fn new(
        (ring, read): (Ring, LineSlice<Flag>),
        bells: Box<[LineRef<Line<Parker>>]>,
        token: u32,
        fence: FenceKind,
    ) -> Self {
        Self {
            ring,
            read,
            bells,
            published: 0,
            freed: 0,
            token,
            fence,
        }
    }

    /// Goes on after message `number`, of which all are given back.
    #[cfg(all(test, not(loom)))]
    pub(super) fn begin_after(&mut self, number: u64) {
        (self.published, self.freed) = (number, number);
        self.read.iter().for_each(|read| read.raise(number));
    }

    /// The longest published message in bytes.
    #[inline]
    pub fn publish_bytes_max(&self) -> usize {
        self.ring.publish_bytes_max()
    }

    /// A reader that has not given back the slot of the next published message, or its body if it has `len` bytes; `None` if
    /// there is room.
    ///
    /// # Cost
    ///
    /// It reads a line of each reader about once in half a lap.
    #[inline(always)]
    pub fn holder(&mut self, len: usize) -> Option<usize> {
        let ahead = self.ring.ahead(len);
        if self.published < self.freed + ahead {
            return None;
        }
        self.look_for_room(ahead)
    }

    #[inline(never)]
    fn look_for_room(&mut self, ahead: u64) -> Option<usize> {
        let mut freed = self.published;
        for (reader, read) in self.read.iter().enumerate() {
            // Acquire, inside: synchronises with the Release of `Reader::give_back` (Invariant 1).
            // More than was published can only be another process's nonsense.
            let read = read.seq().min(self.published);
            if self.published >= read + ahead && !mutated!(NoFlowControl) {
                return Some(reader);
            }
            freed = freed.min(read);
            if mutated!(OneReaderFrees) {
                break;
            }
        }
        self.freed = match mutated!(NoFlowControl) {
            true => self.published,
            false => freed,
        };
        None
    }

    /// Writes the next published message, and wakes readers that sleep for it.
    ///
    /// # Panics
    ///
    /// If some reader [holds](Self::holder) its slot, `payload` is longer than
    /// [`publish_bytes_max`](Self::publish_bytes_max), or `tag` above [`TAG_MAX`].
    ///
    /// # Cost
    ///
    /// One line written, and one per 64 bytes beyond 56; one load for each reader, of a line that is shared while it runs.
    #[inline(always)]
    pub fn publish(&mut self, tag: u32, payload: &[u8]) {
        let len = payload.len();
        assert!(tag <= TAG_MAX, "tag {tag} is above {TAG_MAX}");
        assert!(self.holder(len).is_none(), "a reader holds the line");
        self.published += 1;
        let (first, rest) = payload.split_at(len.min(RING_PAYLOAD_BYTES));
        if !rest.is_empty() {
            assert!(len <= self.publish_bytes_max(), "{len} bytes are no post");
            // SAFETY: every reader has given the slot back, and with it its body (Invariant 1, asserted); the
            // header that publishes both comes last.
            unsafe { body::write(self.ring.body(self.published), rest) };
        }
        let slot = self.ring.slot(self.published);
        // SAFETY: every reader has given the slot back (Invariant 1, asserted) and the published message is not
        // published yet, so nobody else touches the payload, which holds at least as many bytes;
        // the caller's bytes cannot overlap it.
        slot.payload.with_mut(|to| unsafe {
            core::ptr::copy_nonoverlapping(first.as_ptr(), to.cast::<u8>(), first.len());
        });
        let header = PostHeader::new(self.published, tag, len);
        // Release: synchronises with the Acquire in `Reader::look` (Invariant 2).
        slot.header.store(header.0, order::publish_ring());
        for bell in &self.bells {
            bell.wake_for(self.token, self.fence);
            if mutated!(OneReaderWakes) {
                break;
            }
        }
    }
}
