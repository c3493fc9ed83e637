//! Broadcast rings: lines that one writer writes and a fixed set of readers reads. A message lies in one line with its
//! header, and what does not fit there in the lines of a body.
//!
//! CLa's one-to-many synchronisation over the *same line* (§3.2) and its one-line broadcast (§4.1):
//! the writer stores once, however many poll. A broadcast ring is a ring of such lines, so that each is used
//! again only when nobody polls it any more (*single-use lines*, §3.3).
//!
//! ```text
//!            ┌──────┬──────┬──────┬─ ─ ─┐      reader 0 polls slot p + 1
//!   writer ─►│ p - 1│  p   │ p + 1│     │ ◄──  reader 1 polls slot p
//!            └──────┴──────┴──────┴─ ─ ─┘
//!            ◄── reader 0: has read p          a line of its own for each reader, written
//!            ◄── reader 1: has read p - 4      once in half a lap of bodies, read when slots seem to run out
//! ```
//!
//! | slot | header | payload belongs to | next |
//! | --- | --- | --- | --- |
//! | free | an older number | writer | writer writes payload, then header |
//! | full | this number | readers, who only read | each reads the payload, and later gives the slot back |
//!
//! The part of a message that does not fit its slot lies in a *body*, lines without headers. There are [`RING_SLOTS`] bodies, of
//! the same number of lines, and as many slots or more: message p has slot p modulo the slots and, if it is long, body p modulo the
//! bodies.
//!
//! **Invariant 1:** the writer touches the slot of published message p only after it has seen that *every* reader has given back
//! message p − the number of slots, and its body only after message p − [`RING_SLOTS`]. **Invariant 2:** a reader touches the slot of published
//! message p, and its body, only after it has seen the header of p. **Invariant 3:** a reader that has read everything
//! has given back all but less than half of [`RING_SLOTS`], so a writer never waits for one that waits for it.
//!
//! Orderings: header `Release` → `Acquire` carries slot and body to each reader; a reader's line
//! `Release` → `Acquire` carries the permission to overwrite back.
//!
//! No function here waits. A thread that waits polls [`Reader::look`] or [`Writer::holder`] by its wait strategy, with
//! [`token`] for a reader and [`room_token`] for the writer.

mod reader;
mod slot;
mod writer;

pub use reader::{Reader, RingMessage};
use slot::Ring;
pub use slot::{RING_PAYLOAD_BYTES, RING_SLOTS};
pub use writer::Writer;

use crate::park::Parker;
use crate::queue::body::BodyLine;
use crate::queue::{Slot, take};
use crate::segment::{LineRef, LineSlice, Segment, SegmentError};
use crate::{FenceKind, Flag, Line};
use std::cell::Cell;
use std::sync::Arc;

/// What a broadcast ring holds, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Ranks that read each message.
    pub readers: usize,
    /// Messages of a line that the writer can be ahead of its slowest reader: a power of two, at least [`RING_SLOTS`].
    pub slots: usize,
    /// Lines of each of the [`RING_SLOTS`] bodies.
    pub body_lines: usize,
}

impl Shape {
    /// With as many slots as bodies.
    pub const fn new(readers: usize, body_lines: usize) -> Self {
        Self {
            readers,
            slots: RING_SLOTS,
            body_lines,
        }
    }

    /// Bytes that such a ring takes in its writer's segment; `usize::MAX` if they are more than that, which no segment has.
    pub const fn bytes(self) -> usize {
        Segment::bytes_for::<Slot>(self.slots)
            .saturating_add(Segment::bytes_for::<BodyLine>(self.all_lines()))
            .saturating_add(Segment::bytes_for::<Flag>(self.readers))
    }

    /// The lines of all bodies.
    const fn all_lines(self) -> usize {
        self.body_lines.saturating_mul(RING_SLOTS)
    }
}

/// The token by which a thread waits for a published message of broadcast ring number `number`, or for an
/// [`ArrivalCounter`](crate::ArrivalCounter) with that number.
pub const fn token(number: u32) -> u32 {
    8 * number + 6
}

/// The token by which the writer of broadcast ring number `number` waits for room.
pub const fn room_token(number: u32) -> u32 {
    8 * number + 7
}

/// The memory of a broadcast ring without its ends, each of which can be taken once. Each process that shares it takes
/// its own ends.
#[derive(Debug)]
pub struct Parts {
    ring: Ring,
    /// The number of messages that each reader has given back.
    read: LineSlice<Flag>,
    number: u32,
    writer: Cell<bool>,
    readers: Box<[Cell<bool>]>,
}

/// Takes the memory of a broadcast ring in `memory`, the writer's. No other broadcast ring or arrival counter that
/// shares a parker with it has that `number`. Messages longer than [`RING_PAYLOAD_BYTES`] go on in a body.
///
/// # Errors
///
/// [`SegmentError::Full`] when the segment is smaller than [`Shape::bytes`] says.
///
/// # Panics
///
/// If `number` is above 2^28, there are no readers, the slots are no power of two or fewer than [`RING_SLOTS`], or a published
/// message would have 64 KiB and more.
///
/// # Examples
///
/// ```
/// use corecast_wire::{Parker, Line, Segment, fence_kind, broadcast_ring};
///
/// let shape = broadcast_ring::Shape::new(2, 4);
/// let memory = Segment::new(shape.bytes(), None)?;
/// let parts = broadcast_ring::parts(0, shape, &memory)?;
/// let bells = [Segment::one::<Line<Parker>>(None)?, Segment::one::<Line<Parker>>(None)?];
/// let mut writer = parts.writer(&bells, fence_kind());
/// let mut readers = [0, 1].map(|index| parts.reader(index, &bells[0], fence_kind()));
///
/// writer.publish(7, b"for all");
/// writer.publish(8, &[1; 300]);
/// for reader in &mut readers {
///     let mut payload = [0; 7];
///     assert_eq!(reader.look().map(|noticed| noticed.tag), Some(7));
///     assert!(reader.take(&mut payload));
///     assert_eq!(&payload, b"for all");
///     let mut long = [0; 300];
///     assert!(reader.take(&mut long));
///     assert_eq!(long, [1; 300]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parts(number: u32, shape: Shape, memory: &Arc<Segment>) -> Result<Parts, SegmentError> {
    let Shape {
        readers,
        slots,
        body_lines,
    } = shape;
    assert!(number <= 1 << 28, "too many messages: {number}");
    assert!(readers > 0, "a notice has readers");
    let ring = Ring::new(memory.lines(slots)?, memory.lines(shape.all_lines())?);
    assert!(
        ring.publish_bytes_max() < 1 << 16,
        "{body_lines} body lines"
    );
    let read = memory.lines(readers)?;
    Ok(Parts {
        ring,
        read,
        number,
        writer: Cell::new(false),
        readers: vec![Cell::new(false); readers].into(),
    })
}

impl Parts {
    /// The writing end. `bells` are where the readers sleep, in order.
    ///
    /// # Panics
    ///
    /// If there are not as many bells as readers, or it was taken before.
    pub fn writer(&self, bells: &[LineRef<Line<Parker>>], fence: FenceKind) -> Writer {
        assert_eq!(bells.len(), self.read.len(), "a bell for each reader");
        take(&self.writer, "writing end of this broadcast ring");
        Writer::new(
            (self.ring.clone(), self.read.clone()),
            bells.into(),
            token(self.number),
            fence,
        )
    }

    /// The end of reader number `index`. `bell` is where the writer sleeps.
    ///
    /// # Panics
    ///
    /// If there is no such reader, or its end was taken before.
    pub fn reader(&self, index: usize, bell: &LineRef<Line<Parker>>, fence: FenceKind) -> Reader {
        take(&self.readers[index], "end of this reader");
        Reader::new(
            (self.ring.clone(), self.read.get(index)),
            bell.clone(),
            room_token(self.number),
            fence,
        )
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
