//! The word that says what is in a slot of a broadcast ring, which is a queue's but for this word, and where it lies.

use crate::LINE_BYTES;
use crate::queue::body::BodyLine;
use crate::queue::{SLOT_PAYLOAD_BYTES, Slot};
use crate::segment::LineSlice;

/// Lines of a broadcast ring: a writer can be so many published messages ahead of its slowest reader.
#[cfg(not(loom))]
pub const RING_SLOTS: usize = 16;

/// As few as can be in a model.
#[cfg(loom)]
pub const RING_SLOTS: usize = 2;

/// Payload bytes in one published message without a body: a line less its header.
pub const RING_PAYLOAD_BYTES: usize = SLOT_PAYLOAD_BYTES;

/// The ring of a broadcast ring, as both ends see it.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    slots: LineSlice<Slot>,
    /// For each slot as many.
    bodies: LineSlice<BodyLine>,
}

impl Ring {
    pub(super) fn new(slots: LineSlice<Slot>, bodies: LineSlice<BodyLine>) -> Self {
        Self { slots, bodies }
    }

    /// The place of published message number `number`, from 1.
    #[inline(always)]
    pub(super) fn slot(&self, number: u64) -> &Slot {
        &self.slots[number as usize % RING_SLOTS]
    }

    /// Where the rest of published message number `number` is, beyond its slot.
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

/// `number:24 | tag:24 | len:16`. A slot holds post `number` exactly when its header says so: what it
/// held before differs by [`RING_SLOTS`], and memory starts as zeros, which no first post is.
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

    /// Of another process's nonsense up to 65,535.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.0 as usize & 0xFFFF
    }
}
