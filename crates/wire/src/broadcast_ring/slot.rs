//! The slots of a broadcast ring, which are those of a queue with another header word.

use crate::LINE_BYTES;
use crate::queue::body::BodyLine;
use crate::queue::{SLOT_PAYLOAD_BYTES, Slot};
use crate::segment::LineSlice;
use crate::sync::mutated;

/// Bodies of a broadcast ring, and its fewest slots: the writer can be this many messages ahead of its slowest reader.
#[cfg(not(loom))]
pub const RING_SLOTS: usize = 16;

/// Bodies of a broadcast ring: the fewest that a model can have.
#[cfg(loom)]
pub const RING_SLOTS: usize = 2;

/// Payload bytes in one published message without a body: a line less its header.
pub const RING_PAYLOAD_BYTES: usize = SLOT_PAYLOAD_BYTES;

/// The slots of a broadcast ring and their bodies, as both ends use them.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    slots: LineSlice<Slot>,
    /// The body lines of [`RING_SLOTS`] messages. All have the same number of them.
    bodies: LineSlice<BodyLine>,
}

impl Ring {
    pub(super) fn new(slots: LineSlice<Slot>, bodies: LineSlice<BodyLine>) -> Self {
        let count = slots.len();
        assert!(
            count.is_power_of_two() && count >= RING_SLOTS,
            "a broadcast ring has a power of two of slots, at least {RING_SLOTS}; {count} were asked for"
        );
        Self { slots, bodies }
    }

    /// How many messages the writer can be ahead of its slowest reader for one of `len` bytes: that of a message with a body is less, as
    /// there are fewer bodies than slots.
    #[inline(always)]
    pub(super) fn ahead(&self, len: usize) -> u64 {
        match len > RING_PAYLOAD_BYTES && !mutated!(NoBodyFlow) {
            true => RING_SLOTS as u64,
            false => self.slots.len() as u64,
        }
    }

    /// The slot of published message number `number`, which counts from 1.
    #[inline(always)]
    pub(super) fn slot(&self, number: u64) -> &Slot {
        &self.slots[number as usize & (self.slots.len() - 1)]
    }

    /// The body lines of published message number `number`, for the part that does not fit its slot.
    #[inline(always)]
    pub(super) fn body(&self, number: u64) -> &[BodyLine] {
        let lines = self.bodies.len() / RING_SLOTS;
        &self.bodies[number as usize % RING_SLOTS * lines..][..lines]
    }

    /// The longest published message in bytes.
    #[inline(always)]
    pub(super) fn publish_bytes_max(&self) -> usize {
        RING_PAYLOAD_BYTES + self.bodies.len() / RING_SLOTS * LINE_BYTES
    }
}

/// `number:24 | tag:24 | len:16`. A slot holds message `number` exactly when its header has that number: the message
/// before it in the slot had a number less by all slots, and memory starts as zeros, while numbers start at 1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct PostHeader(pub(super) u64);

impl PostHeader {
    #[inline(always)]
    pub(super) fn new(number: u64, tag: u32, len: usize) -> Self {
        debug_assert!(tag < 1 << 24 && len < 1 << 16);
        Self(number << 40 | u64::from(tag) << 16 | len as u64)
    }

    #[inline(always)]
    pub(super) fn is(self, number: u64) -> bool {
        self.0 >> 40 == number & 0xFF_FFFF
    }

    #[inline(always)]
    pub(super) fn tag(self) -> u32 {
        (self.0 >> 16) as u32 & 0xFF_FFFF
    }

    /// The length in bytes, which is at most 65,535 whatever another process has written.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.0 as usize & 0xFFFF
    }
}
