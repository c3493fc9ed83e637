//! The receiving end of a queue.

use super::backend::Backend;
use super::body::Body;
use super::header::{SLOT_PAYLOAD_BYTES, Slot, SlotHeader, lap, lap_shift, slot, takes_pair};
use super::shared::{Ack, Gone, PeerGone, QueueMemory, Tokens, leave};
use crate::hardware_wait::Monitored;
use crate::park::Parker;
use crate::segment::{LineRef, LineSlice};
use crate::sync::order;
use crate::wait::Watch;
use crate::{Line, WaitStrategy};

/// The receiving end of a queue, which one thread at a time uses.
#[derive(Debug)]
pub struct Receiver {
    ring: LineSlice<Slot>,
    body: Body,
    /// Slots read so far.
    next: u64,
    /// The number of slots read at which they are given back next.
    give_back_at: u64,
    mask: u64,
    lap_shift: u32,
    backend: Backend,
    tokens: Tokens,
    sender: LineRef<Line<Parker>>,
    ack: LineRef<Ack>,
    wait_strategy: WaitStrategy,
}

/// The length and tag of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Bytes of payload.
    pub len: usize,
    /// The sender's tag.
    pub tag: u32,
}

/// Why no message was received. A message that was there stays in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiveError<E = Gone> {
    /// The next message is longer than the buffer.
    #[error("the next message has {needed} bytes, the buffer takes {given}; it stays in the queue")]
    BufferTooSmall {
        /// Bytes of the message.
        needed: usize,
        /// Bytes of the buffer.
        given: usize,
    },
    /// The wait was ended.
    #[error(transparent)]
    Ended(E),
}

/// Why the message that was expected was not received. It stays in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExactError<E> {
    /// The next message is another one, which stays in the queue.
    Unexpected(Received),
    /// The wait was ended.
    Ended(E),
}

/// Why no message was received at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TryReceiveError {
    /// No complete message is there: try again later.
    #[error("the queue is empty")]
    Empty,
    /// The next message is longer than the buffer.
    #[error("the next message has {needed} bytes, the buffer takes {given}; it stays in the queue")]
    BufferTooSmall {
        /// Bytes of the message.
        needed: usize,
        /// Bytes of the buffer.
        given: usize,
    },
    /// The queue is empty and the sender is gone.
    #[error(transparent)]
    Gone(Gone),
}

impl Receiver {
    pub(super) fn new(
        backend: Backend,
        QueueMemory { ring, body, ack }: QueueMemory,
        receiver: &WaitStrategy,
        sender: &WaitStrategy,
        tokens: Tokens,
    ) -> Self {
        let half = body.len() as u64 / 2;
        Self {
            mask: ring.len() as u64 - 1,
            lap_shift: lap_shift(backend, ring.len()),
            next: 0,
            give_back_at: give_back_step(backend, ring.len()),
            body: Body::new(body, half),
            ring,
            backend,
            tokens,
            sender: sender.parker().clone(),
            ack,
            wait_strategy: receiver.clone(),
        }
    }

    /// The back end.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Whether a message could be received without waiting.
    pub fn can_receive(&self) -> bool {
        self.look(self.next).is_some()
    }

    /// Length and tag of the next message, if it is there.
    pub fn peek(&self) -> Option<Received> {
        self.look(self.next).map(SlotHeader::received)
    }

    /// Waits for the next message and copies it to the front of `buffer`.
    ///
    /// # Errors
    ///
    /// [`ReceiveError::BufferTooSmall`], or [`Gone`] if nothing is left and the sender was dropped. A
    /// message is lost if its sender's process is killed while it sends.
    ///
    /// # Cost
    ///
    /// One line read, and one more per 64 bytes beyond 56. UMP also writes one line per half lap,
    /// FastForward one per message.
    #[inline(always)]
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<Received, ReceiveError> {
        let header = match self.look_soon() {
            Some(header) => header.received(),
            None => self.wait_while_there()?,
        };
        let (needed, given) = (header.len, buffer.len());
        if needed > given {
            return Err(ReceiveError::BufferTooSmall { needed, given });
        }
        if needed <= SLOT_PAYLOAD_BYTES {
            self.take_short(needed, buffer);
        } else {
            self.take_long(&mut buffer[..needed]);
        }
        Ok(header)
    }

    /// The header of the next message, if it comes in the first phase of the wait.
    #[inline(always)]
    fn look_soon(&self) -> Option<SlotHeader> {
        self.wait_strategy.briefly(|| self.look(self.next))
    }

    #[cold]
    #[inline(never)]
    fn wait_while_there(&self) -> Result<Received, ReceiveError> {
        self.wait_long(PeerGone(&self.ack.sender_gone))
            .map_err(ReceiveError::Ended)
    }

    /// Waits for the next message, which must have this tag and exactly fill `buffer`.
    ///
    /// # Errors
    ///
    /// [`ExactError`].
    #[inline(always)]
    pub fn receive_exact<W: Watch>(
        &mut self,
        tag: u32,
        buffer: &mut [u8],
        watch: impl FnOnce() -> W,
    ) -> Result<(), ExactError<W::Error>> {
        let next = self.wait_watched(watch).map_err(ExactError::Ended)?;
        if (next.tag, next.len) != (tag, buffer.len()) {
            return Err(ExactError::Unexpected(next));
        }
        if next.len <= SLOT_PAYLOAD_BYTES {
            self.take_short(next.len, buffer);
        } else {
            self.take_long(buffer);
        }
        Ok(())
    }

    /// Waits until a message is there, and says what it is. It stays in the queue.
    ///
    /// # Errors
    ///
    /// The error of the watch.
    #[inline(always)]
    pub fn wait_watched<W: Watch>(&self, watch: impl FnOnce() -> W) -> Result<Received, W::Error> {
        match self.look_soon() {
            Some(header) => Ok(header.received()),
            None => self.wait_long(watch()),
        }
    }

    #[inline(never)]
    fn wait_long<W: Watch>(&self, watch: W) -> Result<Received, W::Error> {
        let look = || self.look(self.next);
        let word = Monitored::new(&slot(&self.ring, self.next, self.mask).header);
        let waited = self
            .wait_strategy
            .wait_long(Some(word), self.tokens.message, watch, &mut { look });
        // The last message may have come together with what ended the wait.
        let found = waited.or_else(|ended| look().ok_or(ended));
        found.map(SlotHeader::received)
    }

    /// Receives the next message if it is there.
    ///
    /// # Errors
    ///
    /// [`TryReceiveError`].
    #[inline(always)]
    pub fn try_receive(&mut self, buffer: &mut [u8]) -> Result<Received, TryReceiveError> {
        match self.look(self.next) {
            Some(header) => self.take_complete(header, buffer),
            None => self.try_receive_empty(buffer),
        }
    }

    #[cold]
    #[inline(never)]
    fn try_receive_empty(&mut self, buffer: &mut [u8]) -> Result<Received, TryReceiveError> {
        let gone = PeerGone(&self.ack.sender_gone).check(std::time::Duration::ZERO);
        let gone = gone.err().ok_or(TryReceiveError::Empty)?;
        // The sender's last message may have come between the two looks.
        match self.look(self.next) {
            Some(header) => self.take_complete(header, buffer),
            None => Err(TryReceiveError::Gone(gone)),
        }
    }

    /// Takes a message whose slots are all known to be full.
    #[inline(always)]
    fn take_complete(
        &mut self,
        header: SlotHeader,
        buffer: &mut [u8],
    ) -> Result<Received, TryReceiveError> {
        let (needed, given) = (header.len(), buffer.len());
        if needed > given {
            return Err(TryReceiveError::BufferTooSmall { needed, given });
        }
        if needed <= SLOT_PAYLOAD_BYTES {
            self.take_short(needed, buffer);
        } else {
            self.take_long(&mut buffer[..needed]);
        }
        Ok(header.received())
    }

    /// The header of slot number `seq`, if it is full.
    #[inline(always)]
    fn look(&self, seq: u64) -> Option<SlotHeader> {
        let slot = slot(&self.ring, seq, self.mask);
        // Acquire: synchronises with the Release in `Sender::put` (Invariant 2).
        let header = SlotHeader(slot.header.load(order::observe()));
        let full = header.lap() == lap(seq, self.lap_shift);
        // Another process may write any number there.
        debug_assert!(
            !full || header.seq() == seq as u16 || self.ring.segment().is_shared(),
            "slot {seq} holds {}",
            header.seq()
        );
        full.then_some(header)
    }

    /// Takes a message that fits one slot, which is known to be full.
    #[inline(always)]
    fn take_short(&mut self, len: usize, buffer: &mut [u8]) {
        if len == buffer.len() {
            // The compiler often knows the caller's length, but never the message's: with the former
            // the copy becomes a few moves.
            self.take(buffer);
        } else {
            self.take(&mut buffer[..len]);
        }
    }

    /// Takes a message that fills `buffer`, longer than a slot's.
    #[inline(never)]
    fn take_long(&mut self, buffer: &mut [u8]) {
        let is_pair = takes_pair(self.next, buffer.len(), self.mask);
        let (first, rest) = buffer.split_at_mut(SLOT_PAYLOAD_BYTES);
        if is_pair {
            self.take(first);
            return self.take(rest);
        }
        // SAFETY: the slot was seen full, which publishes the lines of its message (Invariant 2); they are
        // given back below.
        unsafe { self.body.read(rest) };
        if self.body.next >= self.body.limit {
            self.give_back_body();
        }
        self.take(first);
    }

    /// Gives back all lines of the body that are read. Giving back the next slot wakes the sender.
    #[inline(never)]
    fn give_back_body(&mut self) {
        self.body.limit = self.body.next + self.body.len() / 2;
        // Release: synchronises with the Acquire in `Sender::look_for_room` (Invariant 1).
        self.ack.read_body.store(self.body.next, order::give_back());
        self.give_back_at = self.next;
    }

    /// Reads one slot that is known to be full, or the second one of a message, and gives it back.
    #[inline(always)]
    fn take(&mut self, chunk: &mut [u8]) {
        debug_assert!(chunk.len() <= SLOT_PAYLOAD_BYTES);
        let slot = slot(&self.ring, self.next, self.mask);
        // SAFETY: the slot is full (Invariant 2, seen by `look`) and not given back yet, so the
        // sender does not touch it; it holds at least `chunk.len()` bytes, initialised since the
        // segment was mapped; the chunk is the caller's and cannot overlap it.
        slot.payload.with(|payload| unsafe {
            core::ptr::copy_nonoverlapping(payload.cast::<u8>(), chunk.as_mut_ptr(), chunk.len());
        });
        self.next += 1;
        if self.next >= self.give_back_at {
            self.give_back();
        }
    }

    #[inline(never)]
    fn give_back(&mut self) {
        self.give_back_at = self.next + give_back_step(self.backend, self.ring.len());
        // Release: synchronises with the Acquire in `Sender::look_for_room` (Invariant 1).
        match self.backend {
            Backend::Ump => self.ack.read.store(self.next, order::give_back()),
            Backend::FastForward => slot(&self.ring, self.next - 1, self.mask)
                .header
                .store(0, order::give_back()),
        }
        self.sender
            .wake_for(self.tokens.room, self.wait_strategy.fence());
    }
}

/// The number of slots that the receiver gives back at a time. In UMP it is half a lap (Invariant 3):
/// rarely enough to cost little, often enough that the sender finds half of the slots free when it looks.
fn give_back_step(backend: Backend, slots: usize) -> u64 {
    match backend {
        Backend::Ump => slots as u64 / 2,
        Backend::FastForward => 1,
    }
}

impl SlotHeader {
    #[inline(always)]
    fn received(self) -> Received {
        Received {
            len: self.len(),
            tag: self.tag(),
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        leave(
            &self.ack.receiver_gone,
            &self.sender,
            self.wait_strategy.fence(),
        );
    }
}
