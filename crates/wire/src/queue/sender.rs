//! The sending end of a queue.

use super::backend::Backend;
use super::body::{Body, body_lines_for, longest_message};
use super::header::{
    SLOT_PAYLOAD_BYTES, Slot, SlotHeader, TAG_MAX, lap, lap_shift, slot, takes_pair,
};
use super::shared::{Ack, Gone, PeerGone, QueueMemory, Tokens, leave};
use crate::hardware_wait::Monitored;
use crate::park::Parker;
use crate::segment::{LineRef, LineSlice};
use crate::sync::{AtomicU64, Ordering, mutated, order};
use crate::wait::Watch;
use crate::{Line, WaitStrategy};

/// The sending end of a queue, which one thread at a time uses.
#[derive(Debug)]
pub struct Sender {
    ring: LineSlice<Slot>,
    body: Body,
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
    wait_strategy: WaitStrategy,
}

/// Why a message was not sent. Nothing of it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError<E = Gone> {
    /// The message is longer than this queue can ever hold.
    #[error(
        "a message of {len} bytes does not fit: this queue takes at most {max}; make it with more slots"
    )]
    TooLong {
        /// Its length in bytes.
        len: usize,
        /// The longest possible length in bytes.
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
    /// The message is longer than this queue can ever hold.
    #[error(
        "a message of {len} bytes does not fit: this queue takes at most {max}; make it with more slots"
    )]
    TooLong {
        /// Its length in bytes.
        len: usize,
        /// The longest possible length in bytes.
        max: usize,
    },
    /// The receiver is gone.
    #[error(transparent)]
    Gone(Gone),
}

impl Sender {
    pub(super) fn new(
        backend: Backend,
        QueueMemory { ring, body, ack }: QueueMemory,
        sender: &WaitStrategy,
        receiver: &WaitStrategy,
        tokens: Tokens,
    ) -> Self {
        Self {
            mask: ring.len() as u64 - 1,
            lap_shift: lap_shift(backend, ring.len()),
            next: 0,
            room_end: 0,
            body: Body::new(body, 0),
            ring,
            backend,
            tokens,
            receiver: receiver.parker().clone(),
            ack,
            wait_strategy: sender.clone(),
        }
    }

    /// The longest message in bytes, see [`message_bytes_max`](super::message_bytes_max).
    pub fn message_bytes_max(&self) -> usize {
        longest_message(self.body.len() as usize)
    }

    /// The back end.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Whether a message of `len` bytes could be sent without waiting.
    pub fn can_send(&mut self, len: usize) -> bool {
        len <= self.message_bytes_max() && self.has_room(len)
    }

    /// Sends `payload`, waiting for room.
    ///
    /// # Errors
    ///
    /// [`SendError::TooLong`], or [`Gone`] if there is no room and the receiver was dropped.
    ///
    /// # Cost
    ///
    /// One line written, and one more per 64 bytes beyond 56. UMP also reads one line per half lap.
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
    fn wait_while_there(&mut self, len: usize) -> Result<(), SendError> {
        let ack = self.ack.clone();
        self.wait_for_room(len, || PeerGone(&ack.receiver_gone))
    }

    /// [`send_tagged`](Self::send_tagged) with a watch that can end the wait for room.
    ///
    /// # Errors
    ///
    /// [`SendError::TooLong`], or the error of the watch.
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
        self.send_by(tag, payload, |sender, len| sender.wait_for_room(len, watch))
    }

    /// Sends `payload`, waiting by `wait` for as much room as it takes.
    ///
    /// All functions that take the payload are inlined. A call would force it into memory, and the
    /// copy would then wait for the stores to that memory.
    #[inline(always)]
    fn send_by<E>(
        &mut self,
        tag: u32,
        payload: &[u8],
        wait: impl FnOnce(&mut Self, usize) -> Result<(), SendError<E>>,
    ) -> Result<(), SendError<E>> {
        assert!(tag <= TAG_MAX, "tag {tag} is above {TAG_MAX}");
        let len = payload.len();
        // One slot is always within the limit.
        if len > SLOT_PAYLOAD_BYTES && len > self.message_bytes_max() {
            let max = self.message_bytes_max();
            return Err(SendError::TooLong { len, max });
        }
        // The sender first waits for all room: a wait that ended in the middle would leave half a
        // message.
        if !self.has_room(len) {
            wait(self, len)?;
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
        if !self.has_room(len) {
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

    /// Whether a message of `len` bytes has room: a slot, and another one or body lines for what the slot does not take.
    #[inline(always)]
    fn has_room(&mut self, len: usize) -> bool {
        self.knows_room(len) || self.look_for_room(len)
    }

    #[inline(always)]
    fn knows_room(&self, len: usize) -> bool {
        self.next < self.room_end && (len <= SLOT_PAYLOAD_BYTES || self.knows_more_room(len))
    }

    #[inline(always)]
    fn knows_more_room(&self, len: usize) -> bool {
        match takes_pair(self.next, len, self.mask) {
            true => self.next + 1 < self.room_end || mutated!(OneSlotForTwo),
            false => {
                self.body.next + body_lines_for(len) <= self.body.limit || mutated!(NoBodyFlow)
            }
        }
    }

    /// Looks for slots and body lines that the receiver has given back.
    #[inline(never)]
    fn look_for_room(&mut self, len: usize) -> bool {
        let slots = self.ring.len() as u64;
        match self.backend {
            Backend::Ump => {
                // Acquire: synchronises with the Release in `Receiver::give_back` (Invariant 1).
                let read = self.ack.read.load(order::reclaim());
                // More than was sent can only be another process's nonsense.
                self.room_end = read.min(self.next) + slots;
            }
            Backend::FastForward => {
                // The receiver empties in order, so an empty slot speaks for those before it: one
                // look takes half a lap, if that is free.
                let needed = 1 + u64::from(takes_pair(self.next, len, self.mask));
                let free = |seq| {
                    // Acquire: synchronises with the Release in `Receiver::give_back` (Invariant 1).
                    slot(&self.ring, seq, self.mask)
                        .header
                        .load(order::reclaim())
                        == 0
                };
                let found = [needed.max(slots / 2), needed]
                    .into_iter()
                    .find(|&n| free(self.next + n - 1));
                self.room_end = self.next + found.unwrap_or(0);
            }
        }
        if len > SLOT_PAYLOAD_BYTES {
            self.take_back_body();
        }
        self.knows_room(len) || mutated!(NoFlowControl)
    }

    fn take_back_body(&mut self) {
        // Acquire: synchronises with the Release in `Receiver::give_back_body` (Invariant 1).
        let read = self.ack.read_body.load(order::reclaim());
        // More than was sent can only be another process's nonsense.
        self.body.limit = read.min(self.body.next) + self.body.len();
    }

    #[cold]
    #[inline(never)]
    fn wait_for_room<W: Watch>(
        &mut self,
        len: usize,
        watch: impl FnOnce() -> W,
    ) -> Result<(), SendError<W::Error>> {
        let wait_strategy = self.wait_strategy.clone();
        let (token, ack) = (self.tokens.room, self.ack.clone());
        // In FastForward the receiver gives slots back in their headers, of which any may be the one that is missing.
        let word = match self.backend {
            Backend::Ump => Some(Monitored::new(&ack.read)),
            Backend::FastForward => None,
        };
        wait_strategy
            .wait_watched_at(word, token, watch, || self.has_room(len).then_some(()))
            .map_err(SendError::Ended)
    }

    #[inline(always)]
    fn put_all(&mut self, tag: u32, payload: &[u8]) {
        if payload.len() <= SLOT_PAYLOAD_BYTES {
            self.put(tag, payload.len(), payload);
        } else {
            self.put_long(tag, payload);
        }
        self.receiver
            .wake_for(self.tokens.message, self.wait_strategy.fence());
    }

    /// Writes the rest of the message first and its slot last. The receiver, which polls the slot, then finds the whole
    /// message, and has not read any of its other lines while they were written.
    #[inline(never)]
    fn put_long(&mut self, tag: u32, payload: &[u8]) {
        let (first, rest) = payload.split_at(SLOT_PAYLOAD_BYTES);
        if takes_pair(self.next, payload.len(), self.mask) {
            return self.put_pair(tag, payload.len(), first, rest);
        }
        // SAFETY: as many lines as the rest has are free (checked by `has_room`); the slot that
        // publishes them comes next.
        unsafe { self.body.write(rest) };
        self.put(tag, payload.len(), first);
        // This look is early, so that the next message need not wait for the acknowledgement line.
        if self.body.limit - self.body.next < self.body.len() / 2 {
            self.take_back_body();
        }
    }

    /// Writes the next two slots, which are known to be free.
    #[inline(always)]
    fn put_pair(&mut self, tag: u32, len: usize, first: &[u8], rest: &[u8]) {
        let second = self.next + 1;
        let header = SlotHeader::new(second, tag, rest.len(), lap(second, self.lap_shift));
        let second_header = self.fill(second, rest);
        if !mutated!(OneHeaderForTwo) {
            // Relaxed: published with the slot before it. The receiver looks at it a lap later, and must not take it for new then.
            second_header.store(header.0, Ordering::Relaxed);
        }
        self.put(tag, len, first);
        self.next = second + 1;
    }

    /// Writes the next slot, which is known to be free, for a message of `len` bytes that begins with
    /// `chunk`.
    #[inline(always)]
    fn put(&mut self, tag: u32, len: usize, chunk: &[u8]) {
        let seq = self.next;
        let slot_header = self.fill(seq, chunk);
        let header = SlotHeader::new(seq, tag, len, lap(seq, self.lap_shift));
        // Release: synchronises with the Acquire in `Receiver::look` (Invariant 2).
        slot_header.store(header.0, order::publish());
        self.next = seq + 1;
    }

    /// Writes the payload of slot number `seq`, which is known to be free, and returns its header.
    #[inline(always)]
    fn fill(&self, seq: u64, chunk: &[u8]) -> &AtomicU64 {
        debug_assert!(chunk.len() <= SLOT_PAYLOAD_BYTES);
        let slot = slot(&self.ring, seq, self.mask);
        // SAFETY: the slot was given back (Invariant 1, checked by `has_room`) and is not
        // published yet, so nobody else touches its payload, which holds at least `chunk.len()`
        // bytes; the chunk is the caller's and cannot overlap it.
        slot.payload.with_mut(|payload| unsafe {
            core::ptr::copy_nonoverlapping(chunk.as_ptr(), payload.cast::<u8>(), chunk.len());
        });
        &slot.header
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        leave(
            &self.ack.sender_gone,
            &self.receiver,
            self.wait_strategy.fence(),
        );
    }
}
