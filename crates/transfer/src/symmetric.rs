//! Symmetric memory: buffers in a part of the team's segment, which all of its processes have mapped. What is lent of them
//! is read where it lies. The word is that of OpenSHMEM and NVSHMEM.

use crate::bounce_buffer::BounceMemory;
use corecast_wire::fork::{ForkDetector, forked_since};
use corecast_wire::sync::Mutex;
use corecast_wire::{Segment, SegmentError};
use range_alloc::RangeAllocator;
use std::fmt;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};

/// The symmetric memory of one rank, of which its process makes buffers.
///
/// **Invariant:** pages have memory only while they belong to a buffer, and no two buffers have a page in common. Other
/// processes only read what is lent to them.
#[derive(Clone)]
pub struct SymmetricMemory(Arc<Inner>);

struct Inner {
    segment: Arc<Segment>,
    /// Where it lies in the segment.
    place: Range<usize>,
    /// Free bytes, as offsets in the segment.
    free: Mutex<RangeAllocator<usize>>,
    fork_detector: ForkDetector,
}

/// Why there is no symmetric buffer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AllocError {
    /// The rank has no such range of free addresses.
    #[error(
        "{wanted} bytes of symmetric memory are wanted, and no {wanted} bytes in a row are free of the {all} that the rank has: make the team with more"
    )]
    Full {
        /// Bytes wanted.
        wanted: usize,
        /// Bytes that the rank has, free or not.
        all: usize,
    },
    /// The team was made without symmetric memory.
    #[error(
        "the team has no symmetric memory: it was made without, or limits of addresses or of file sizes (`ulimit -v`, `ulimit -f`) left no room for it"
    )]
    None,
    /// This process was forked from the one that has the rank.
    #[error("symmetric memory belongs to the process that this one was forked from")]
    Forked,
    /// There is no memory.
    #[error(transparent)]
    Segment(#[from] SegmentError),
}

impl SymmetricMemory {
    /// Symmetric memory of a rank of this process: `bytes` of the spare part of `segment`, from `offset` on, both multiples
    /// of the page size.
    ///
    /// # Panics
    ///
    /// If something of it is other symmetric memory of this process: two buffers could have the same bytes.
    pub fn new(segment: &Arc<Segment>, offset: usize, bytes: usize) -> Self {
        let place = offset..offset + bytes;
        let is_ours = segment.claim(place.clone());
        assert!(is_ours, "bytes {place:?} are other symmetric memory");
        Self(Arc::new(Inner {
            segment: Arc::clone(segment),
            free: Mutex::new(RangeAllocator::new(place.clone())),
            place,
            fork_detector: ForkDetector::now(),
        }))
    }

    /// A buffer of `bytes`, all zero, rounded up to pages.
    ///
    /// # Errors
    ///
    /// [`AllocError`].
    ///
    /// # Cost
    ///
    /// A lock, a system call, and the clearing of the pages.
    pub fn alloc(&self, bytes: usize) -> Result<SymmetricBytes, AllocError> {
        let buffer = self.alloc_lazily(bytes, 1)?;
        let range = &buffer.range;
        self.0.segment.commit(range.start, range.len())?;
        Ok(buffer)
    }

    /// [`alloc`](Self::alloc), but a page has memory when it is first touched, by whichever process: then the kernel may find that
    /// there is none, and end a process. The buffer begins with a page, and at a multiple of `align`, a power of two.
    ///
    /// # Errors
    ///
    /// [`AllocError::Full`], [`AllocError::Forked`].
    ///
    /// # Panics
    ///
    /// If `align` is no power of two.
    ///
    /// # Cost
    ///
    /// A lock.
    pub(crate) fn alloc_lazily(
        &self,
        bytes: usize,
        align: usize,
    ) -> Result<SymmetricBytes, AllocError> {
        assert!(align.is_power_of_two(), "an alignment of {align}");
        let inner = &self.0;
        if forked_since(&inner.fork_detector) {
            return Err(AllocError::Forked);
        }
        let all = inner.place.len();
        let full = AllocError::Full { wanted: bytes, all };
        let page = rustix::param::page_size();
        let pages = bytes.max(1).checked_next_multiple_of(page);
        // With so many more there is a multiple among the first ones.
        let more = align.saturating_sub(page);
        let (pages, wanted) = (pages, pages.and_then(|pages| pages.checked_add(more)));
        let (Some(pages), Some(wanted)) = (pages, wanted.filter(|&wanted| wanted <= all)) else {
            return Err(full);
        };
        let mut free = inner.free();
        let allocated = free.allocate_range(wanted).map_err(|_| full)?;
        let first = inner.segment.address(allocated.start).as_ptr().addr();
        let start = allocated.start + (first.next_multiple_of(align) - first);
        let range = start..start + pages;
        for rest in [allocated.start..range.start, range.end..allocated.end] {
            if !rest.is_empty() {
                free.free_range(rest);
            }
        }
        drop(free);
        // From here on dropping it gives the pages back.
        Ok(SymmetricBytes {
            // Nothing is read or written there before the pages have memory, or may take it.
            start: inner.segment.address(range.start),
            len: bytes,
            range,
            of: self.clone(),
        })
    }

    /// The memory of a bounce buffer, with this memory beside it.
    ///
    /// # Errors
    ///
    /// As [`BounceMemory::with_symmetric`].
    pub fn beside(&self, bounce: BounceMemory) -> Result<BounceMemory, SegmentError> {
        let Inner { segment, place, .. } = &*self.0;
        bounce.with_symmetric(segment, place.start, place.len())
    }
}

impl Inner {
    fn free(&self) -> corecast_wire::sync::MutexGuard<'_, RangeAllocator<usize>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SymmetricMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SymmetricMemory")
            .field(&self.0.place)
            .finish()
    }
}

/// Bytes of symmetric memory, which belong to their rank alone until it lends them. Dropping them gives the pages back.
#[derive(Debug)]
pub struct SymmetricBytes {
    start: NonNull<u8>,
    len: usize,
    /// The pages, in the segment.
    range: Range<usize>,
    of: SymmetricMemory,
}

// SAFETY: plain bytes that this value owns, see the invariant of `SymmetricMemory`.
unsafe impl Send for SymmetricBytes {}
// SAFETY: as above; a shared reference only reads.
unsafe impl Sync for SymmetricBytes {}

impl Deref for SymmetricBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: committed pages of a segment that `of` keeps mapped, which belong to this value alone (Invariant). Other
        // processes of the team could write there, as they could write this process's lines; those of Corecast only read.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for SymmetricBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above. What is lent is borrowed by a window meanwhile.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for SymmetricBytes {
    fn drop(&mut self) {
        let inner = &self.of.0;
        // The pages of a forked child's copy are its parent's.
        if forked_since(&inner.fork_detector) {
            return;
        }
        let mut free = inner.free();
        let released = inner.segment.release(self.range.start, self.range.len());
        debug_assert!(released.is_ok(), "{released:?}");
        free.free_range(self.range.clone());
    }
}
