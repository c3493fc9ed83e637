//! The sending end.

use super::header::{
    Header, LEN_MAX, SLOT_PAYLOAD_BYTES, Slot, TAG_MAX, lap, lap_shift, slot, slots_for,
};
use super::{Ack, Backend, Gone, PeerGone, Tokens, leave};
#[cfg(not(loom))]
use crate::arch;
use crate::park::Parker;
use crate::segment::{LineRef, LineSlice};
use crate::sync::{mutated, order};
use crate::wait::Watch;
use crate::{Governor, Line};

/// The sending end of a queue. Not shared: one thread sends.
#[derive(Debug)]
pub struct Sender {
    ring: LineSlice<Slot>,
    /// Slots written so far.
    next: u64,
    /// The slot number before which all slots are known to be free.
    room_end: u64,
    mask: u64,
    lap_shift: u32,
    backend: Backend,
    tokens: Tokens,
    receiver: LineRef<Line<Parker>>,
    ack: LineRef<Ack>,
    governor: Governor,
}

/// Why a message was not sent. Nothing of it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError<E = Gone> {
    /// Longer than this queue can ever hold.
    #[error(
        "a message of {len} bytes does not fit: this queue takes at most {max}; make it with more slots"
    )]
    TooLong {
        /// Its length in bytes.
        len: usize,
        /// The longest possible.
        max: usize,
    },
    /// The wait for room was ended.
    #[error(transparent)]
    Ended(E),
}

/// Why a message was not sent at once. Nothing of it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrySendError {
    /// The receiver has not given back enough slots yet: try again later.
    #[error("the queue is full")]
    Full,
    /// Longer than this queue can ever hold.
    #[error(
        "a message of {len} bytes does not fit: this queue takes at most {max}; make it with more slots"
    )]
    TooLong {
        /// Its length in bytes.
        len: usize,
        /// The longest possible.
        max: usize,
    },
    /// The receiver is gone.
    #[error(transparent)]
    Gone(Gone),
}

impl Sender {
    pub(super) fn new(
        backend: Backend,
        ring: LineSlice<Slot>,
        ack: LineRef<Ack>,
        sender: &Governor,
        receiver: &Governor,
        tokens: Tokens,
    ) -> Self {
        Self {
            mask: ring.len() as u64 - 1,
            lap_shift: lap_shift(backend, ring.len()),
            next: 0,
            room_end: 0,
            ring,
            backend,
            tokens,
            receiver: receiver.parker().clone(),
            ack,
            governor: sender.clone(),
        }
    }

    /// The longest message in bytes: half of the slots, because the receiver gives back by halves.
    pub fn message_bytes_max(&self) -> usize {
        (self.ring.len() / 2 * SLOT_PAYLOAD_BYTES).min(LEN_MAX)
    }

    /// The back end.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Whether a message of `len` bytes could be sent without waiting.
    pub fn can_send(&mut self, len: usize) -> bool {
        len <= self.message_bytes_max() && self.has_room(slots_for(len) as u64)
    }

    /// Sends `payload`, waiting for room. Messages longer than one slot are split.
    ///
    /// # Errors
    ///
    /// [`SendError::TooLong`], or [`Gone`] if there is no room and the receiver was dropped.
    ///
    /// # Cost
    ///
    /// One line written per 56 bytes; in UMP one line read per half lap besides.
    #[inline(always)]
    pub fn send(&mut self, payload: &[u8]) -> Result<(), SendError> {
        self.send_tagged(0, payload)
    }

    /// [`send`](Self::send) with a tag that the receiver gets along with the message.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    #[inline(always)]
    pub fn send_tagged(&mut self, tag: u32, payload: &[u8]) -> Result<(), SendError> {
        self.send_by(tag, payload, Self::wait_while_there)
    }

    #[cold]
    #[inline(never)]
    fn wait_while_there(&mut self, slots: u64) -> Result<(), SendError> {
        let ack = self.ack.clone();
        self.wait_for_room(slots, || PeerGone(&ack.receiver_gone))
    }

    /// [`send_tagged`](Self::send_tagged) with a watch of the caller's over the wait for room.
    ///
    /// # Errors
    ///
    /// [`SendError::TooLong`], or what the watch says.
    ///
    /// # Panics
    ///
    /// If `tag` is above [`TAG_MAX`].
    #[inline(always)]
    pub fn send_watched<W: Watch>(
        &mut self,
        tag: u32,
        payload: &[u8],
        watch: impl FnOnce() -> W,
    ) -> Result<(), SendError<W::Error>> {
        self.send_by(tag, payload, |sender, slots| {
            sender.wait_for_room(slots, watch)
        })
    }

    /// Sends `payload`, waiting by `wait` for as many slots as it takes.
    ///
    /// The payload goes to no function that is not inlined: its address would force it into
    /// memory, from where the copy would have to fetch it past half-finished stores.
    #[inline(always)]
    fn send_by<E>(
        &mut self,
        tag: u32,
        payload: &[u8],
        wait: impl FnOnce(&mut Self, u64) -> Result<(), SendError<E>>,
    ) -> Result<(), SendError<E>> {
        assert!(tag <= TAG_MAX, "tag {tag} is above {TAG_MAX}");
        let (len, max) = (payload.len(), self.message_bytes_max());
        // One slot is always within the limit, and needs no look at it.
        if len > SLOT_PAYLOAD_BYTES && len > max {
            return Err(SendError::TooLong { len, max });
        }
        // All of it or nothing: a wait that is ended in the middle would leave half a message.
        let slots = slots_for(len) as u64;
        if !self.has_room(slots) {
            wait(self, slots)?;
        }
        self.put_all(tag, payload);
        Ok(())
    }

    /// Sends `payload` if there is room at once.
    ///
    /// # Errors
    ///
    /// [`TrySendError`].
    #[inline(always)]
    pub fn try_send(&mut self, payload: &[u8]) -> Result<(), TrySendError> {
        self.try_send_tagged(0, payload)
    }

    /// [`try_send`](Self::try_send) with a tag.
    ///
    /// # Errors
    ///
    /// [`TrySendError`].
    ///
    /// # Panics
    ///
    /// If `tag` is above [`TAG_MAX`].
    #[inline(always)]
    pub fn try_send_tagged(&mut self, tag: u32, payload: &[u8]) -> Result<(), TrySendError> {
        assert!(tag <= TAG_MAX, "tag {tag} is above {TAG_MAX}");
        let (len, max) = (payload.len(), self.message_bytes_max());
        if len > max {
            return Err(TrySendError::TooLong { len, max });
        }
        if !self.has_room(slots_for(len) as u64) {
            PeerGone(&self.ack.receiver_gone)
                .check(std::time::Duration::ZERO)
                .map_err(TrySendError::Gone)?;
            return Err(TrySendError::Full);
        }
        self.put_all(tag, payload);
        Ok(())
    }

    /// Sends a message without payload.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    #[inline(always)]
    pub fn notify(&mut self) -> Result<(), SendError> {
        self.send(&[])
    }

    #[inline(always)]
    fn has_room(&mut self, slots: u64) -> bool {
        self.next + slots <= self.room_end || self.look_for_room(slots)
    }

    /// Takes back what the receiver has given back.
    #[inline(never)]
    fn look_for_room(&mut self, slots: u64) -> bool {
        let len = self.ring.len() as u64;
        match self.backend {
            Backend::Ump => {
                // Acquire: synchronises with the Release in `Receiver::give_back` (Invariant 1).
                let read = self.ack.read.load(order::reclaim());
                // More than was sent can only be another process's nonsense.
                self.room_end = read.min(self.next) + len;
            }
            Backend::FastForward => {
                // The receiver empties in order, so an empty slot speaks for those before it: one
                // look takes half a lap, if that is free.
                let free = |seq| {
                    // Acquire: as above.
                    slot(&self.ring, seq, self.mask)
                        .header
                        .load(order::reclaim())
                        == 0
                };
                let enough = [len / 2, slots];
                let found = enough
                    .into_iter()
                    .find(|&n| n >= slots && free(self.next + n - 1));
                self.room_end = self.next + found.unwrap_or(0);
            }
        }
        self.next + slots <= self.room_end || mutated!(NoFlowControl)
    }

    #[cold]
    #[inline(never)]
    fn wait_for_room<W: Watch>(
        &mut self,
        slots: u64,
        watch: impl FnOnce() -> W,
    ) -> Result<(), SendError<W::Error>> {
        let governor = self.governor.clone();
        let token = self.tokens.room;
        governor
            .wait_watched(token, watch, || self.has_room(slots).then_some(()))
            .map_err(SendError::Ended)
    }

    #[inline(always)]
    fn put_all(&mut self, tag: u32, payload: &[u8]) {
        if payload.len() <= SLOT_PAYLOAD_BYTES {
            self.put(self.next, tag, payload.len(), payload);
            self.next += 1;
        } else {
            self.put_long(tag, payload);
        }
        self.receiver
            .wake_for(self.tokens.message, self.governor.fence());
    }

    /// The first slot last: then the receiver, who looks there, finds the whole message, and has not
    /// looked at any of its other lines while they were written.
    #[inline(never)]
    fn put_long(&mut self, tag: u32, payload: &[u8]) {
        let (first, rest) = payload.split_at(SLOT_PAYLOAD_BYTES);
        let mut left = rest.len();
        let mut next = self.next + 1;
        // The receiver has these lines from the last lap. Stores become visible in order, so each would
        // wait for the line of the one before.
        #[cfg(not(loom))]
        for seq in next..self.next + slots_for(payload.len()) as u64 {
            arch::claim(core::ptr::from_ref(slot(&self.ring, seq, self.mask)).cast());
        }
        // Of a known length, so that the copies become moves.
        let (full, end) = rest.as_chunks::<SLOT_PAYLOAD_BYTES>();
        for chunk in full {
            self.put(next, tag, left, chunk);
            left -= SLOT_PAYLOAD_BYTES;
            next += 1;
        }
        if !end.is_empty() {
            self.put(next, tag, left, end);
            next += 1;
        }
        self.put(self.next, tag, payload.len(), first);
        self.next = next;
    }

    /// Writes slot number `seq`, which is known to be free. `left` are the bytes from here to the end of
    /// the message.
    #[inline(always)]
    fn put(&self, seq: u64, tag: u32, left: usize, chunk: &[u8]) {
        debug_assert!(chunk.len() <= SLOT_PAYLOAD_BYTES);
        let slot = slot(&self.ring, seq, self.mask);
        // SAFETY: the slot was given back (Invariant 1, checked by `has_room`) and is not
        // published yet, so nobody else touches its payload, which holds at least `chunk.len()`
        // bytes; the chunk is the caller's and cannot overlap it.
        slot.payload.with_mut(|payload| unsafe {
            core::ptr::copy_nonoverlapping(chunk.as_ptr(), payload.cast::<u8>(), chunk.len());
        });
        let header = Header::new(seq, tag, left, lap(seq, self.lap_shift));
        // Release: synchronises with the Acquire in `Receiver::look` (Invariant 2).
        slot.header.store(header.0, order::publish());
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        leave(&self.ack.sender_gone, &self.receiver, self.governor.fence());
    }
}
