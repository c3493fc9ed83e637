//! Bounce buffers: memory that other processes see. Data that are lent to them are copied there first.

use crate::descriptor::{DESCRIPTORS, DescriptorFields, Way};
use corecast_wire::sync::{AtomicU32, Ordering};
use corecast_wire::{LineSlice, Lines, Segment, SegmentError};
use std::cell::UnsafeCell;
use std::sync::Arc;

/// One line of a bounce buffer. It is a plain cell in models too, because they check accesses to the data by cells of
/// their own.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct BounceLine(UnsafeCell<[u64; 8]>);

// SAFETY: plain integers, written by the bounce buffer's owner while nobody reads, read by those that it
// has offered them to.
unsafe impl Sync for BounceLine {}
// SAFETY: as above.
unsafe impl Send for BounceLine {}
// SAFETY: integers: zero is their default, any bit pattern is valid, no Drop.
unsafe impl Lines for BounceLine {}

/// Memory for a bounce buffer or an eager buffer, as all ranks of the team see it. Copies are the same memory, which one
/// endpoint writes.
#[derive(Clone, Debug)]
pub struct BounceMemory {
    lines: LineSlice<BounceLine>,
    /// The rank's symmetric memory, if it has any.
    symmetric: Option<LineSlice<BounceLine>>,
    /// 1 once an endpoint of this process owns the memory.
    owned: Arc<AtomicU32>,
}

impl BounceMemory {
    /// Takes `bytes` of a segment, a multiple of 64.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Full`].
    pub fn new(segment: &Arc<Segment>, bytes: usize) -> Result<Self, SegmentError> {
        let lines = segment.lines(bytes / size_of::<BounceLine>())?;
        let owned = Arc::new(AtomicU32::new(0));
        Ok(Self {
            lines,
            symmetric: None,
            owned,
        })
    }

    /// Says that `bytes` of the shared segment `of`, from `offset` on, are the rank's symmetric memory. All ranks have it
    /// mapped, so what is lent of it is read where it lies.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Outside`], [`SegmentError::Misaligned`].
    #[cfg(not(loom))]
    pub fn with_symmetric(
        mut self,
        of: &Arc<Segment>,
        offset: usize,
        bytes: usize,
    ) -> Result<Self, SegmentError> {
        self.symmetric = Some(of.at(offset, bytes / LINE)?);
        Ok(self)
    }

    pub(crate) fn symmetric(&self) -> Option<LineSlice<BounceLine>> {
        self.symmetric.clone()
    }

    /// The segment in which the memory lies.
    pub(crate) fn segment(&self) -> &Arc<Segment> {
        self.lines.segment()
    }

    /// The lines, for a peer that reads them.
    pub(crate) fn lines(&self) -> LineSlice<BounceLine> {
        self.lines.clone()
    }

    /// The lines, for the endpoint that writes them.
    ///
    /// # Panics
    ///
    /// If an endpoint owns the memory already: each of the two would write chunks that the other one has lent.
    pub(crate) fn own(&self) -> LineSlice<BounceLine> {
        // Relaxed: the order of changes of one word decides; it publishes nothing.
        let before = self.owned.swap(1, Ordering::Relaxed);
        assert_eq!(before, 0, "this memory is another buffer's already");
        self.lines()
    }
}

/// The chunks that one link holds, by the numbers of their descriptors.
#[derive(Clone, Debug, Default)]
struct Held {
    chunks: [u32; DESCRIPTORS],
    made: u64,
    regained: u64,
}

/// The owner's view of its bounce buffer: the chunks, and the links that hold them.
///
/// **Invariant 1:** a link that holds nothing finds a free chunk. With *N* links, and *E* chunks that
/// links hold beyond their first one, counted once for each such link, at most *(links that hold
/// something) + E* chunks are held. `has_room` keeps *E* ≤ *chunks − N*, and returns only make it
/// less. So while a link holds nothing, at most *N − 1 + chunks − N* are held.
#[derive(Debug)]
pub(crate) struct BounceBuffer {
    lines: LineSlice<BounceLine>,
    chunk_bytes: usize,
    /// Chunks that no link holds. The one used last is on top, because its lines are probably still in the cache.
    free: Vec<u32>,
    holders: Vec<u32>,
    held: Vec<Held>,
    /// The number of chunks that links hold beyond their first ones (*E*), and its limit.
    extra: usize,
    extra_max: usize,
}

/// No chunk: the descriptor names an address.
const NONE: u32 = u32::MAX;

const LINE: usize = size_of::<BounceLine>();

/// Bytes of the longest loan for which a link has room as a whole, in chunks of so many bytes: of longer ones lender and borrower copy in
/// turn.
pub const fn loan_room(chunk_bytes: usize) -> usize {
    DESCRIPTORS * chunk_bytes
}

impl BounceBuffer {
    /// A bounce buffer for an endpoint with `all` links, of which `others` lead to other processes.
    ///
    /// # Panics
    ///
    /// If the memory is no multiple of a chunk, a chunk is no multiple of a line, or there are fewer chunks than
    /// `others`.
    pub(crate) fn new(
        lines: LineSlice<BounceLine>,
        chunk_bytes: usize,
        (all, others): (usize, usize),
    ) -> Self {
        let bytes = lines.len() * LINE;
        assert!(
            chunk_bytes > 0
                && chunk_bytes.is_multiple_of(LINE)
                && bytes.is_multiple_of(chunk_bytes),
            "a bounce buffer of {bytes} bytes in chunks of {chunk_bytes}"
        );
        let chunks = bytes / chunk_bytes;
        assert!(chunks >= others, "{chunks} chunks for {others} links");
        assert!(chunks < NONE as usize, "{chunks} chunks have no numbers");
        Self {
            lines,
            chunk_bytes,
            free: (0..chunks as u32).rev().collect(),
            holders: vec![0; chunks],
            held: vec![Held::default(); all],
            extra: 0,
            extra_max: chunks - others,
        }
    }

    pub(crate) fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    /// Takes back the chunks of the first `returned` descriptors of `link`.
    #[inline]
    pub(crate) fn regain(&mut self, link: usize, returned: u64) {
        let held = &mut self.held[link];
        // Another process counts, so a count below an earlier one is ignored. It is never above the number of
        // descriptors made, see `Lender::returned`.
        while held.regained < returned {
            held.regained += 1;
            self.extra -= usize::from(held.regained < held.made);
            let chunk = held.chunks[held.regained as usize % DESCRIPTORS];
            if chunk == NONE {
                continue;
            }
            let holders = &mut self.holders[chunk as usize];
            *holders -= 1;
            if *holders == 0 {
                self.free.push(chunk);
            }
        }
    }

    /// Whether one more chunk can be lent to all of these links.
    #[inline]
    pub(crate) fn has_room(&self, mut links: impl Iterator<Item = usize>) -> bool {
        let mut extra = 0;
        let all_have = links.all(|link| {
            let held = &self.held[link];
            let count = held.made - held.regained;
            extra += usize::from(count > 0);
            count < DESCRIPTORS as u64
        });
        let fair = extra == 0 || self.extra + extra <= self.extra_max;
        all_have && fair && !self.free.is_empty()
    }

    /// Copies `bytes` to a free chunk and returns the chunk's number. There must be room.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> u32 {
        assert!(bytes.len() <= self.chunk_bytes, "more than a chunk");
        let chunk = self.free.pop().expect("there is room");
        let place = chunk as usize * self.chunk_bytes;
        assert!(place + self.chunk_bytes <= self.lines.len() * LINE);
        let base = self.lines.as_ptr().cast::<u8>().cast_mut();
        // SAFETY: within the lines, as was just checked, which are cells. The chunk is free: whoever
        // read it has returned it (seen by `regain`), and it is offered again only after this. The
        // bytes are not in it, because nobody has a window over a bounce buffer.
        unsafe { corecast_wire::copy::bytes(bytes.as_ptr(), base.add(place), bytes.len()) };
        chunk
    }

    /// Notes that `link` holds `chunk` by its descriptor `number`, which is its next one.
    pub(crate) fn hold(&mut self, chunk: u32, link: usize, number: u64) {
        let held = &mut self.held[link];
        debug_assert_eq!(
            number,
            held.made + 1,
            "offers go by the bounce buffer alone"
        );
        self.holders[chunk as usize] += 1;
        self.extra += usize::from(held.regained < held.made);
        held.chunks[number as usize % DESCRIPTORS] = chunk;
        held.made = number;
    }

    /// Whether `link` holds nothing.
    pub(crate) fn is_idle(&self, link: usize) -> bool {
        self.held[link].made == self.held[link].regained
    }

    /// Notes that the next descriptor of `link`, `number`, names data in no chunk. The link must be idle.
    pub(crate) fn pass(&mut self, link: usize, number: u64) {
        debug_assert!(self.is_idle(link), "it stands alone");
        let held = &mut self.held[link];
        held.chunks[number as usize % DESCRIPTORS] = NONE;
        held.made = number;
    }

    /// The offset in bytes at which a chunk begins.
    pub(crate) fn offset(&self, chunk: u32) -> u64 {
        u64::from(chunk) * self.chunk_bytes as u64
    }
}

/// The bytes of another rank's bounce buffer that a descriptor names. Returns `None` for a descriptor of bytes that lie
/// elsewhere, and for one that only a corrupt process makes: with a start that is no multiple of a line, with bytes
/// outside of the bounce buffer, with more bytes than are left, or with none while some are left.
///
/// The bytes are a pointer, because their owner is another process, which can write them at any time: a reference
/// would promise that nobody does.
pub(crate) fn read(theirs: &LineSlice<BounceLine>, said: &DescriptorFields) -> Option<*const [u8]> {
    let end = said.start.checked_add(said.len)?;
    let sane = said.way == Way::InPlace
        && said.start.is_multiple_of(LINE as u64)
        && end <= (theirs.len() * LINE) as u64
        && said.len <= said.left
        && (said.len > 0 || said.left == 0);
    if !sane {
        return None;
    }
    let start = theirs
        .as_ptr()
        .cast::<u8>()
        .wrapping_add(said.start as usize);
    Some(core::ptr::slice_from_raw_parts(start, said.len as usize))
}
