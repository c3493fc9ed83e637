//! Copies of short loans between threads: whoever lends goes on at once, and waits for no return.
//!
//! A loan of an address lasts until it was read, so its lender waits for a line to come back. For some
//! kilobytes a copy to the rank's own eager buffer takes less than that, and where ranks share a core much less:
//! waiting there means that others have to run.

use crate::bounce_buffer::{BounceLine, BounceMemory};
use crate::link::Link;
use corecast_wire::LineSlice;
use std::ops::Range;

const LINE: usize = size_of::<BounceLine>();

/// A few chunks of a rank's own memory.
#[derive(Debug)]
pub(crate) struct EagerBuffer {
    lines: LineSlice<BounceLine>,
    chunk_bytes: usize,
    /// For each chunk the loans of it that may still be read: link and number of the descriptor.
    standing: Vec<Vec<(u32, u64)>>,
    /// The chunk that was used last: its lines are near.
    last: usize,
}

impl EagerBuffer {
    /// Chunks of so many bytes, a multiple of a line, for an endpoint with so many links.
    pub(crate) fn new(memory: &BounceMemory, chunk_bytes: usize, links: usize) -> Self {
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
    pub(crate) fn put(&mut self, links: &[Link], bytes: &[u8]) -> Option<Range<usize>> {
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
            corecast_wire::arch::claim(core::ptr::from_ref(line).cast());
        }
        // SAFETY: within the lines, which are cells and this endpoint's alone; nobody reads the chunk, as
        // everybody has returned it (offer Invariant 1). The bytes are not in it: nobody has a window
        // over an eager buffer.
        let start = unsafe {
            let start = start.add(place);
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len());
            start.addr()
        };
        Some(start..start + bytes.len())
    }

    /// Notes that `link` was offered what was put last, by its offer `number`.
    pub(crate) fn hold(&mut self, link: usize, number: u64) {
        self.standing[self.last].push((link as u32, number));
    }
}
