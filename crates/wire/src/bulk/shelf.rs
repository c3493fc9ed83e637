//! Copies of short loans between threads: whoever lends goes on at once, and waits for no return.
//!
//! A loan of an address lasts until it was read, so its lender waits for a line to come back. For some
//! kilobytes a copy to the rank's own shelf takes less than that, and where ranks share a core much less:
//! waiting there means that others have to run.

use super::link::Link;
use super::outbox::{OutboxLine, OutboxMemory};
use crate::segment::LineSlice;
use std::ops::Range;

const LINE: usize = size_of::<OutboxLine>();

/// A few chunks of a rank's own memory.
#[derive(Debug)]
pub(super) struct Shelf {
    lines: LineSlice<OutboxLine>,
    chunk_bytes: usize,
    /// For each chunk the loans of it that may still be read: link and number of the offer.
    standing: Vec<Vec<(u32, u64)>>,
    /// The chunk that was used last: its lines are near.
    last: usize,
}

impl Shelf {
    /// Chunks of so many bytes, a multiple of a line, for a desk with so many links.
    pub(super) fn new(memory: &OutboxMemory, chunk_bytes: usize, links: usize) -> Self {
        let lines = memory.lines();
        assert!(chunk_bytes > 0 && chunk_bytes.is_multiple_of(LINE));
        let chunks = lines.len() * LINE / chunk_bytes;
        // Borrowers make pointers of addresses again.
        let _ = lines.as_ptr().expose_provenance();
        Self {
            lines,
            chunk_bytes,
            standing: (0..chunks).map(|_| Vec::with_capacity(links)).collect(),
            last: 0,
        }
    }

    /// Copies `bytes`, and says where they lie now; `None` if they are too long or every chunk may still
    /// be read.
    ///
    /// # Cost
    ///
    /// The copy, and a load of the line of returns of each link that holds the chunk looked at.
    pub(super) fn put(&mut self, links: &[Link], bytes: &[u8]) -> Option<Range<usize>> {
        if bytes.len() > self.chunk_bytes {
            return None;
        }
        let chunks = self.standing.len();
        let mut order = (0..chunks).map(|step| (self.last + step) % chunks);
        let standing = &mut self.standing;
        let chunk = order.find(|&chunk| {
            standing[chunk]
                .retain(|&(link, number)| links[link as usize].lender.returned() < number);
            standing[chunk].is_empty()
        })?;
        self.last = chunk;
        let place = chunk * self.chunk_bytes;
        debug_assert!(place + bytes.len() <= self.lines.len() * LINE);
        let start = self.lines.as_ptr().cast::<u8>().cast_mut();
        // Those who read the chunk last have its lines.
        for line in self.lines[place / LINE..][..bytes.len().div_ceil(LINE)].iter() {
            crate::arch::claim(core::ptr::from_ref(line).cast());
        }
        // SAFETY: within the lines, which are cells and this desk's alone; nobody reads the chunk, as
        // everybody has returned it (offer Invariant 1). The bytes are not in it: nobody has a window
        // over a shelf.
        let start = unsafe {
            let start = start.add(place);
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len());
            start.addr()
        };
        Some(start..start + bytes.len())
    }

    /// Notes that `link` was offered what was put last, by its offer `number`.
    pub(super) fn hold(&mut self, link: usize, number: u64) {
        self.standing[self.last].push((link as u32, number));
    }
}
