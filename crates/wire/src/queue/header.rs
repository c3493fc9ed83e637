//! A slot and the word that says what is in it.

use super::backend::Backend;
use crate::segment::LineSlice;
use crate::sync::{AtomicU64, UnsafeCell};

/// Payload bytes in one slot: a line less its header.
pub const SLOT_PAYLOAD_BYTES: usize = 56;

/// Longest message in two slots.
pub(super) const PAIR_PAYLOAD_BYTES: usize = 2 * SLOT_PAYLOAD_BYTES;

/// Fewest slots of a ring in which a message may take two: no message takes more than a quarter, as of the body, so that there is
/// always room for two messages that were not read. A model of one direction needs none.
const PAIR_SLOTS_MIN: u64 = if cfg!(loom) { 2 } else { 8 };

/// Whether a message of `len` bytes takes slot number `seq` of a ring of `mask + 1` slots and the next one: if they are a pair of lines,
/// which many processors fetch at once.
#[inline(always)]
pub(super) fn takes_pair(seq: u64, len: usize, mask: u64) -> bool {
    len > SLOT_PAYLOAD_BYTES
        && len <= PAIR_PAYLOAD_BYTES
        && seq.is_multiple_of(2)
        && mask + 1 >= PAIR_SLOTS_MIN
}

/// Longest message that a header can describe.
pub(super) const LEN_MAX: usize = (1 << 23) - 1;

/// Largest tag.
pub const TAG_MAX: u32 = (1 << 24) - 1;

/// One line of a queue: a header word and the payload that it announces.
///
/// The header is written by the sender after the payload, and read by the receiver before it.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Slot {
    pub(crate) header: AtomicU64,
    pub(crate) payload: UnsafeCell<Payload>,
}

pub(crate) type Payload = [u64; SLOT_PAYLOAD_BYTES / 8];

#[cfg(not(loom))]
const _: () = assert!(size_of::<Slot>() == crate::LINE_BYTES);
#[cfg(not(loom))]
const _: () = assert!(align_of::<Slot>() == crate::LINE_BYTES);

// SAFETY: the payload is accessed by the sender alone until it publishes the header, then by the
// receiver alone until it gives the slot back (queue Invariants 1 and 2). In a broadcast ring the writer is
// alone until then, and afterwards all only read (broadcast ring Invariants 1 and 2).
unsafe impl Sync for Slot {}
// SAFETY: plain integers.
unsafe impl Send for Slot {}
// SAFETY: integers, zero by default, no Drop.
unsafe impl crate::segment::Lines for Slot {}

/// `seq:16 | tag:24 | len:23 | lap:1`.
///
/// `lap` is the only part by which a receiver recognises a new message. `len` counts the bytes of the
/// message, in the slot and in its body. `seq` is the slot's number in the queue's life, kept for
/// assertions and for a debugger.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct SlotHeader(pub(super) u64);

impl SlotHeader {
    #[inline(always)]
    pub(super) fn new(seq: u64, tag: u32, len: usize, lap: u64) -> Self {
        debug_assert!(tag <= TAG_MAX && len <= LEN_MAX && lap <= 1);
        Self(seq << 48 | u64::from(tag) << 24 | (len as u64) << 1 | lap)
    }

    #[inline(always)]
    pub(super) fn lap(self) -> u64 {
        self.0 & 1
    }

    #[inline(always)]
    pub(super) fn len(self) -> usize {
        (self.0 >> 1) as usize & LEN_MAX
    }

    #[inline(always)]
    pub(super) fn tag(self) -> u32 {
        (self.0 >> 24) as u32 & TAG_MAX
    }

    #[inline(always)]
    pub(super) fn seq(self) -> u16 {
        (self.0 >> 48) as u16
    }
}

/// The shift that makes a lap of a slot's number. In FastForward the lap bit never turns.
pub(super) fn lap_shift(backend: Backend, slots: usize) -> u32 {
    match backend {
        Backend::Ump => slots.trailing_zeros(),
        Backend::FastForward => u64::BITS - 1,
    }
}

/// The lap bit of slot number `seq`: 1 in the first lap, because memory starts as zeros.
#[inline(always)]
pub(super) fn lap(seq: u64, lap_shift: u32) -> u64 {
    !(seq >> lap_shift) & 1
}

/// The place of slot number `seq` in a ring of `mask + 1` slots.
#[inline(always)]
pub(super) fn slot(ring: &LineSlice<Slot>, seq: u64, mask: u64) -> &Slot {
    debug_assert_eq!(ring.len() as u64, mask + 1);
    // SAFETY: both ends keep the mask of their ring's length, a power of two, so the place is
    // less than the length.
    unsafe { ring.get_unchecked((seq & mask) as usize) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn header_keeps_its_parts() {
        for (seq, tag, len, lap) in [
            (0, 0, 0, 0),
            (0xFFFF, TAG_MAX, LEN_MAX, 1),
            (0x1_2345, 7, 56, 1),
        ] {
            let header = SlotHeader::new(seq, tag, len, lap);
            assert_eq!(header.seq(), seq as u16);
            assert_eq!((header.tag(), header.len(), header.lap()), (tag, len, lap));
        }
    }
}
