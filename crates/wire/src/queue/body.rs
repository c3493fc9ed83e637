//! The body of a queue or broadcast ring: lines without headers for the part of a message that does not fit its
//! slot. They lie one after another, so the part is copied at once.

use super::header::{LEN_MAX, SLOT_PAYLOAD_BYTES};
use crate::LINE_BYTES;
use crate::segment::{LineSlice, Lines};
use crate::sync::UnsafeCell;

/// Body lines of a queue for each of its slots. Twice as many, which allow messages of 16 KiB, are no faster than
/// two messages, and reductions of such messages are slower than those of loans.
const LINES_PER_SLOT: usize = 8;

/// The number of body lines of a queue with `slots` slots, see [`Capacity`](super::Capacity); `usize::MAX` if there are more
/// than that, which no segment has.
///
/// ```
/// use corecast_wire::queue::{DEFAULT_SLOTS, body_lines, body_lines_for, message_bytes_max};
///
/// // The longest message has a quarter of them.
/// let longest = body_lines_for(message_bytes_max(DEFAULT_SLOTS));
/// assert_eq!(longest, body_lines(DEFAULT_SLOTS) as u64 / 4);
/// ```
pub const fn body_lines(slots: usize) -> usize {
    slots.saturating_mul(LINES_PER_SLOT)
}

/// Most body lines of one message, of so many: a quarter. As the receiver gives back half of them at a time, the
/// sender seldom waits for lines, or even looks for them.
const fn lines_max(body_lines: usize) -> usize {
    body_lines / 4
}

/// Body lines that a message of `len` bytes takes beside its slot, if it does not take a second one; see [`body_lines`].
///
/// ```
/// use corecast_wire::queue::{SLOT_PAYLOAD_BYTES, body_lines_for};
///
/// assert_eq!(body_lines_for(SLOT_PAYLOAD_BYTES), 0);
/// assert_eq!(body_lines_for(SLOT_PAYLOAD_BYTES + 1), 1);
/// ```
#[inline(always)]
pub const fn body_lines_for(len: usize) -> u64 {
    len.saturating_sub(SLOT_PAYLOAD_BYTES).div_ceil(LINE_BYTES) as u64
}

/// One line of a body.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct BodyLine(UnsafeCell<Words>);

type Words = [u64; LINE_BYTES / 8];

// SAFETY: plain integers, written by the sender alone from when all receivers have given the line back
// until the slot of its message is published, then only read by these (Invariants 1 and 2 of queues and of
// broadcast rings).
unsafe impl Sync for BodyLine {}
// SAFETY: plain integers.
unsafe impl Send for BodyLine {}
// SAFETY: integers: zero is their default, any bit pattern is valid, no Drop.
unsafe impl Lines for BodyLine {}

/// One end's view of the body lines of a queue, a power of two of them.
#[derive(Debug)]
pub(super) struct Body {
    lines: LineSlice<BodyLine>,
    /// Lines written, or read, so far.
    pub(super) next: u64,
    /// Sender: the line number before which all lines are known to be free. Receiver: how many lines are
    /// read when they are given back next.
    pub(super) limit: u64,
}

impl Body {
    pub(super) fn new(lines: LineSlice<BodyLine>, limit: u64) -> Self {
        assert!(lines.len().is_power_of_two(), "{} body lines", lines.len());
        Self {
            lines,
            next: 0,
            limit,
        }
    }

    /// The number of lines.
    pub(super) fn len(&self) -> u64 {
        self.lines.len() as u64
    }

    /// The place of line number `next`.
    fn place(&self) -> usize {
        (self.next & (self.len() - 1)) as usize
    }

    /// Writes `bytes` to the next lines.
    ///
    /// # Safety
    ///
    /// Those lines are free (Invariant 1), and not published before this returns.
    pub(super) unsafe fn write(&mut self, bytes: &[u8]) {
        self.each_run(bytes.len(), |run, lines| {
            // SAFETY: as the caller promises.
            unsafe { write(lines, &bytes[run]) };
        });
    }

    /// Reads the next lines to `buffer`.
    ///
    /// # Safety
    ///
    /// The message that has them was seen (Invariant 2) and they were not given back since.
    pub(super) unsafe fn read(&mut self, buffer: &mut [u8]) {
        self.each_run(buffer.len(), |run, lines| {
            // SAFETY: as the caller promises.
            unsafe { read(lines, &mut buffer[run]) };
        });
    }

    /// Calls `copy` with each range of `len` bytes and the lines from its place on: mostly once, and twice at
    /// the end of the ring. Advances `next` by these lines.
    #[inline(always)]
    fn each_run(&mut self, len: usize, mut copy: impl FnMut(core::ops::Range<usize>, &[BodyLine])) {
        let mut start = 0;
        // There are more than two only if another process wrote nonsense, which must not lead out of the ring.
        while start < len {
            let place = self.place();
            let end = len.min(start + (self.lines.len() - place) * LINE_BYTES);
            copy(start..end, &self.lines[place..]);
            self.next += (end - start).div_ceil(LINE_BYTES) as u64;
            start = end;
        }
    }
}

/// Writes `bytes` to `lines`, from the first one on.
///
/// # Panics
///
/// If there are not enough lines.
///
/// # Safety
///
/// Nobody else touches these lines meanwhile.
#[inline(always)]
pub(crate) unsafe fn write(lines: &[BodyLine], bytes: &[u8]) {
    let lines = &lines[..bytes.len().div_ceil(LINE_BYTES)];
    #[cfg(not(loom))]
    {
        let to = lines.as_ptr().cast::<u8>().cast_mut();
        // SAFETY: the pointer is of the slice, so good for all of its lines, which are cells and have room for
        // the bytes (sliced above); nobody else touches them, as the caller promises, so neither can the
        // caller's bytes overlap them.
        unsafe { crate::copy::bytes(bytes.as_ptr(), to, bytes.len()) };
    }
    // A model watches each line, so they are copied one by one.
    #[cfg(loom)]
    for (line, bytes) in lines.iter().zip(bytes.chunks(LINE_BYTES)) {
        // SAFETY: as above, within one line.
        line.0.with_mut(|to| unsafe {
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len());
        });
    }
}

/// Reads `lines` to `buffer`, from the first one on.
///
/// # Panics
///
/// If there are not enough lines.
///
/// # Safety
///
/// Nobody writes these lines meanwhile.
#[inline(always)]
pub(crate) unsafe fn read(lines: &[BodyLine], buffer: &mut [u8]) {
    let lines = &lines[..buffer.len().div_ceil(LINE_BYTES)];
    #[cfg(not(loom))]
    {
        let from = lines.as_ptr().cast::<u8>();
        // SAFETY: the pointer is of the slice, so good for all of its lines, which have as many bytes (sliced
        // above), initialised since the segment was mapped; nobody writes them, as the caller promises; the
        // buffer is the caller's alone.
        unsafe { crate::copy::bytes(from, buffer.as_mut_ptr(), buffer.len()) };
    }
    #[cfg(loom)]
    for (line, bytes) in lines.iter().zip(buffer.chunks_mut(LINE_BYTES)) {
        // SAFETY: as above, within one line.
        line.0.with(|from| unsafe {
            core::ptr::copy_nonoverlapping(from.cast(), bytes.as_mut_ptr(), bytes.len());
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn lines_cover_what_the_slot_does_not() {
        for (len, lines) in [
            (0, 0),
            (56, 0),
            (57, 1),
            (120, 1),
            (121, 2),
            (4152, 64),
            (8248, 128),
        ] {
            assert_eq!(body_lines_for(len), lines, "{len} bytes");
        }
    }
}

/// The longest message in bytes that a queue with `slots` slots takes: a slot's payload and a quarter of the
/// body.
///
/// # Examples
///
/// ```
/// assert_eq!(corecast_wire::queue::message_bytes_max(64), 56 + 8192);
/// ```
pub const fn message_bytes_max(slots: usize) -> usize {
    longest_message(body_lines(slots))
}

/// The longest message in bytes that a queue with so many body lines takes.
pub(super) const fn longest_message(body_lines: usize) -> usize {
    let rest = lines_max(body_lines).saturating_mul(LINE_BYTES);
    if rest < LEN_MAX - SLOT_PAYLOAD_BYTES {
        SLOT_PAYLOAD_BYTES + rest
    } else {
        LEN_MAX
    }
}
