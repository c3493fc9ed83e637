//! Memory that other processes see: what is lent to them is copied there first.

use crate::segment::{LineSlice, Lines};
use crate::sync::UnsafeCell;
use std::ops::Range;

/// One line of an outbox.
#[repr(C, align(64))]
pub(crate) struct OutboxLine(UnsafeCell<[u64; 8]>);

impl std::fmt::Debug for OutboxLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OutboxLine")
    }
}

impl Default for OutboxLine {
    fn default() -> Self {
        // SAFETY: integers in a cell; all-zero bytes are valid.
        unsafe { std::mem::zeroed() }
    }
}

// SAFETY: plain integers, written by the outbox's owner while nobody reads, read by those that it
// has offered them to.
unsafe impl Sync for OutboxLine {}
// SAFETY: as above.
unsafe impl Send for OutboxLine {}
// SAFETY: integers: zero is their default, any bit pattern is valid, no Drop.
unsafe impl Lines for OutboxLine {}

/// Whose chunk is lent: it is free when the count of returns on `link` has reached `number`.
#[derive(Clone, Copy, Debug)]
struct Held {
    chunk: u32,
    link: u32,
    number: u64,
}

/// The owner's view of its outbox: chunks, and who holds them.
#[derive(Debug)]
pub(super) struct Outbox {
    lines: LineSlice<OutboxLine>,
    chunk_bytes: usize,
    /// Chunks that nobody holds, the one used last on top, because its lines are still near.
    free: Vec<u32>,
    holders: Vec<u32>,
    held: Vec<Held>,
}

const LINE: usize = size_of::<OutboxLine>();

impl Outbox {
    /// # Panics
    ///
    /// If the memory is no multiple of chunks, or a chunk of lines.
    pub(super) fn new(lines: LineSlice<OutboxLine>, chunk_bytes: usize, links: usize) -> Self {
        let bytes = lines.len() * LINE;
        assert!(
            chunk_bytes > 0
                && chunk_bytes.is_multiple_of(LINE)
                && bytes.is_multiple_of(chunk_bytes),
            "an outbox of {bytes} bytes in chunks of {chunk_bytes}"
        );
        let chunks = (bytes / chunk_bytes) as u32;
        Self {
            lines,
            chunk_bytes,
            free: (0..chunks).rev().collect(),
            holders: vec![0; chunks as usize],
            held: Vec::with_capacity(super::offer::OFFERS * links),
        }
    }

    pub(super) fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    /// Takes back what has been returned, as `returned(link)` counts.
    pub(super) fn regain(&mut self, returned: impl Fn(u32) -> u64) {
        let (free, holders) = (&mut self.free, &mut self.holders);
        self.held.retain(|held| {
            let holds = returned(held.link) < held.number;
            if !holds {
                holders[held.chunk as usize] -= 1;
                if holders[held.chunk as usize] == 0 {
                    free.push(held.chunk);
                }
            }
            holds
        });
    }

    /// A free chunk with `bytes` in it; `None` while all are held.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Option<u32> {
        assert!(bytes.len() <= self.chunk_bytes, "more than a chunk");
        let chunk = self.free.pop()?;
        let place = chunk as usize * self.chunk_bytes;
        let line = &self.lines[place / LINE..][..self.chunk_bytes / LINE];
        // SAFETY: the chunk is free: whoever read it has returned it (seen by `regain`), and it is
        // offered again only after this; it holds `bytes.len()`, as was just checked.
        line[0].0.with_mut(|to| unsafe {
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast::<u8>(), bytes.len());
        });
        Some(chunk)
    }

    /// Notes who holds a chunk that was put.
    pub(super) fn hold(&mut self, chunk: u32, link: u32, number: u64) {
        self.holders[chunk as usize] += 1;
        self.held.push(Held {
            chunk,
            link,
            number,
        });
    }

    /// Where a chunk begins, as an offset.
    pub(super) fn offset(&self, chunk: u32) -> u64 {
        u64::from(chunk) * self.chunk_bytes as u64
    }
}

/// The bytes of another rank's outbox that an offer names; `None` if it has no such bytes, as only
/// a broken process says.
pub(super) fn read(theirs: &LineSlice<OutboxLine>, start: u64, len: u64) -> Option<&[u8]> {
    let bytes = theirs.len() * LINE;
    let range: Range<usize> =
        usize::try_from(start).ok()?..usize::try_from(start.checked_add(len)?).ok()?;
    if range.end > bytes {
        return None;
    }
    let base = theirs.as_ptr().cast::<u8>();
    // SAFETY: within the outbox, as was just checked. The owner does not write what it has offered
    // until it is returned; a process that breaks this spoils the bytes of its own messages.
    Some(unsafe { core::slice::from_raw_parts(base.add(range.start), range.len()) })
}
