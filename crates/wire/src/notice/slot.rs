//! The word that says what is in a slot of a notice, which is a queue's but for this word.

use super::NOTICE_SLOTS;
use crate::queue::{SLOT_PAYLOAD_BYTES, Slot};
use crate::segment::LineSlice;

/// Payload bytes in one post: a line less its header.
pub const NOTICE_PAYLOAD_BYTES: usize = SLOT_PAYLOAD_BYTES;

/// The place of post number `number`, from 1.
#[inline(always)]
pub(super) fn slot(ring: &LineSlice<Slot>, number: u64) -> &Slot {
    &ring[number as usize % NOTICE_SLOTS]
}

/// `number:32 | tag:24 | len:8`. A slot holds post `number` exactly when its header says so: what it
/// held before differs by [`NOTICE_SLOTS`], and memory starts as zeros, which no first post is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Header(pub(super) u64);

impl Header {
    #[inline(always)]
    pub(super) fn new(number: u64, tag: u32, len: usize) -> Self {
        debug_assert!(tag < 1 << 24 && len <= NOTICE_PAYLOAD_BYTES);
        Self(number << 32 | u64::from(tag) << 8 | len as u64)
    }

    #[inline(always)]
    pub(super) fn is(self, number: u64) -> bool {
        self.0 >> 32 == number & 0xFFFF_FFFF
    }

    #[inline(always)]
    pub(super) fn tag(self) -> u32 {
        (self.0 >> 8) as u32 & 0xFF_FFFF
    }

    /// Of another process's nonsense up to 255.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.0 as usize & 0xFF
    }
}
