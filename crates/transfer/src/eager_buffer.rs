//! Eager buffers: copies of short loans between threads, so that a lender goes on at once and waits for no
//! return.
//!
//! A loan of an address lasts until it was read, so its lender waits for a line to come back. For some kilobytes
//! a copy to the rank's own eager buffer takes less than that, and where ranks share a core much less, because a
//! wait lasts until other ranks have run.

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
    /// The chunk that was used last, whose lines are probably still in the cache.
    last: usize,
}

impl EagerBuffer {
    /// An eager buffer in chunks of `chunk_bytes`, a multiple of a line, for an endpoint with so many `links`.
    pub(crate) fn new(memory: &BounceMemory, chunk_bytes: usize, links: usize) -> Self {
        let lines = memory.own();
        assert!(chunk_bytes > 0 && chunk_bytes.is_multiple_of(LINE));
        let chunks = lines.len() * LINE / chunk_bytes;
        // Borrowers turn the addresses into pointers again.
        let _ = lines.as_ptr().expose_provenance();
        Self {
            lines,
            chunk_bytes,
            standing: (0..chunks).map(|_| Vec::with_capacity(links)).collect(),
            last: 0,
        }
    }

    /// Copies `bytes` to a chunk, and returns the addresses of the copy; `None` if they are too long or every
    /// chunk may still be read.
    ///
    /// # Cost
    ///
    /// The copy, and a load of the acknowledgement line of each link that may still read a chunk that is tried.
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
        // The last readers of the chunk have its lines in their caches.
        for line in self.lines[place / LINE..][..bytes.len().div_ceil(LINE)].iter() {
            corecast_wire::arch::claim(core::ptr::from_ref(line).cast());
        }
        // SAFETY: within the lines, which are cells and this endpoint's alone; nobody reads the chunk, as
        // everybody has returned it (descriptor Invariant 1). The bytes are not in it: nobody has a window over
        // an eager buffer.
        let start = unsafe {
            let start = start.add(place);
            corecast_wire::copy::bytes(bytes.as_ptr(), start, bytes.len());
            start.addr()
        };
        Some(start..start + bytes.len())
    }

    /// Notes that descriptor `number` of `link` names the chunk that was filled last.
    pub(crate) fn hold(&mut self, link: usize, number: u64) {
        self.standing[self.last].push((link as u32, number));
    }
}
