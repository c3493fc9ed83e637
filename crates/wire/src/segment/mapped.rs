//! Segments outside of models, which are memory mappings.

use super::error::SegmentError;
use super::lines::Lines;
use super::numa;
use super::placement::Placement;
use super::room;
use crate::line::PAIR_BYTES;
use crate::sync::{AtomicU32, AtomicU64, Mutex, Ordering};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

/// The purpose of a segment, besides lines that are handed out once: undecided, views that may overlap,
/// or lines whose addresses are followed. The last two exclude each other, or a view could forge an
/// address.
const UNDECIDED: u32 = 0;
const VIEWS: u32 = 1;
const ADDRESSES: u32 = 2;

/// Private memory of at least so many bytes is made only if the machine has them. Checking takes some file reads, as
/// long as the system takes to clear some MiB.
const CHECKED_FROM: usize = 64 << 20;

/// Zeroed memory for lines; see the module.
#[derive(Debug)]
pub struct Segment {
    pub(super) base: NonNull<u8>,
    pub(super) bytes: usize,
    /// Bytes that had memory when this process mapped the segment.
    pub(super) reserved: usize,
    /// Parts that have an owner, who makes references to their bytes.
    pub(super) claims: Mutex<Vec<Range<usize>>>,
    /// Bytes that `lines` has handed out.
    pub(super) used: AtomicU64,
    /// [`UNDECIDED`], [`VIEWS`] or [`ADDRESSES`].
    purpose: AtomicU32,
    placement: Placement,
    shared: bool,
    /// The segment that this one is a part of, which owns the mapping.
    whole: Option<Arc<Segment>>,
}

// SAFETY: the mapping is plain memory; every access goes through `T: Lines`.
unsafe impl Send for Segment {}
// SAFETY: as above; `lines` hands out disjoint parts by an atomic counter, and `T: Lines` bears
// that views of `at` overlap.
unsafe impl Sync for Segment {}

impl Segment {
    /// Maps `bytes` (rounded up to pages), on `node` where that is possible, and touches them.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Map`]; [`SegmentError::Room`] where the kernel would promise more memory than there is, and end
    /// this process when it is touched. A refused placement is no error: see [`Segment::placement`].
    pub fn new(bytes: usize, node: Option<u32>) -> Result<Arc<Self>, SegmentError> {
        let mut segment = Self::private(bytes, 0)?;
        Self::check_room(segment.bytes)?;
        let (base, bytes) = (segment.base, segment.bytes);
        let requested = node.map(|node| (node, numa::prefer(base, bytes, node)));
        // One call instead of a fault for each page, where the kernel knows it.
        if !cfg!(miri) {
            numa::populate(base, bytes);
        }
        for page in (0..bytes).step_by(rustix::param::page_size()) {
            // SAFETY: within the mapping, which nobody else knows yet. The write, not a read,
            // makes the kernel give the page its own memory now.
            unsafe { base.add(page).write_volatile(0) };
        }
        if let Some((node, requested)) = requested {
            segment.placement = numa::outcome(base, node, requested);
        }
        Ok(Arc::new(segment))
    }

    /// Sets `bytes` (rounded up to pages) of addresses aside, on `node` where that is possible. A page takes memory from its
    /// first write on, but the first one at once if there is a node; until then it reads as zeros. It is for memory of which
    /// most teams use only a part.
    ///
    /// Huge pages are off, as they would take 2 MiB for the first byte.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Map`].
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_wire::{Flag, Segment};
    /// let segment = Segment::reserve(1 << 30, None)?;
    /// let flag = segment.at::<Flag>(1 << 29, 1)?;
    /// flag[0].raise(3);
    /// assert_eq!(flag[0].seq(), 3);
    /// # Ok::<(), corecast_wire::SegmentError>(())
    /// ```
    pub fn reserve(bytes: usize, node: Option<u32>) -> Result<Arc<Self>, SegmentError> {
        let mut segment = Self::private(bytes, libc::MAP_NORESERVE)?;
        if !cfg!(miri) {
            // SAFETY: our own mapping; the advice changes no contents. A kernel without huge pages
            // refuses it, and has no need of it.
            unsafe {
                libc::madvise(
                    segment.base.as_ptr().cast(),
                    segment.bytes,
                    libc::MADV_NOHUGEPAGE,
                )
            };
        }
        if let Some(node) = node {
            segment.placement = segment.bind(0, segment.bytes, node);
        }
        Ok(Arc::new(segment))
    }

    fn private(bytes: usize, flags: libc::c_int) -> Result<Self, SegmentError> {
        let Some(bytes) = pages(bytes) else {
            let source = std::io::ErrorKind::OutOfMemory.into();
            return Err(SegmentError::Map { bytes, source });
        };
        let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        Self::map(bytes, flags, -1)
    }

    /// Maps `bytes`, a multiple of the page size.
    pub(super) fn map(
        bytes: usize,
        flags: libc::c_int,
        file: libc::c_int,
    ) -> Result<Self, SegmentError> {
        #[cfg(corecast_simulated)]
        if !crate::simulated::grants(bytes) {
            let source = std::io::ErrorKind::OutOfMemory.into();
            return Err(SegmentError::Map { bytes, source });
        }
        let Some(base) = memory::map(bytes, flags, file) else {
            let source = std::io::Error::last_os_error();
            return Err(SegmentError::Map { bytes, source });
        };
        #[cfg(corecast_simulated)]
        if file >= 0 {
            // SAFETY: the caller has the descriptor open for this call.
            let file = unsafe { std::os::fd::BorrowedFd::borrow_raw(file) };
            let inode = rustix::fs::fstat(file).map_or(0, |stat| stat.st_ino);
            crate::simulated::mapped(base.as_ptr().addr(), bytes, inode);
        }
        Ok(Self {
            base,
            bytes,
            reserved: bytes,
            claims: Mutex::default(),
            used: AtomicU64::new(0),
            purpose: AtomicU32::new(UNDECIDED),
            placement: Placement::Anywhere,
            shared: flags & libc::MAP_SHARED != 0,
            whole: None,
        })
    }

    /// A part of this segment, as a segment of its own that hands out its lines from the first one on:
    /// processes that ask for the same lines of the same part in the same order get the same memory.
    /// The part lies on `node` where that is possible.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Outside`], [`SegmentError::Misaligned`] unless `offset` is a multiple of the
    /// page size, [`SegmentError::Addresses`].
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_wire::{Flag, Segment};
    /// let segment = Segment::new(8192, None)?;
    /// let (one, same) = (segment.part(4096, 4096, None)?, segment.part(4096, 4096, None)?);
    /// one.lines::<Flag>(2)?[1].raise(3);
    /// assert_eq!(same.lines::<Flag>(2)?[1].seq(), 3);
    /// # Ok::<(), corecast_wire::SegmentError>(())
    /// ```
    pub fn part(
        self: &Arc<Self>,
        offset: usize,
        bytes: usize,
        node: Option<u32>,
    ) -> Result<Arc<Self>, SegmentError> {
        let base = self.pages_at(offset, bytes)?;
        self.allow_views()?;
        let placement = match node {
            Some(node) if bytes > 0 => self.bind(offset, bytes, node),
            _ => Placement::Anywhere,
        };
        Ok(Arc::new(Self {
            base,
            bytes,
            reserved: bytes,
            claims: Mutex::default(),
            used: AtomicU64::new(0),
            purpose: AtomicU32::new(VIEWS),
            placement,
            shared: self.shared,
            whole: Some(Arc::clone(self)),
        }))
    }

    /// The first byte of a range that begins with a page and lies in the segment.
    pub(super) fn pages_at(
        &self,
        offset: usize,
        bytes: usize,
    ) -> Result<NonNull<u8>, SegmentError> {
        let end = offset.checked_add(bytes);
        if end.is_none_or(|end| end > self.bytes) {
            return Err(SegmentError::Outside {
                offset,
                count: bytes,
                each: 1,
                bytes: self.bytes,
            });
        }
        let align = rustix::param::page_size();
        if !offset.is_multiple_of(align) {
            return Err(SegmentError::Misaligned { offset, align });
        }
        // SAFETY: within the mapping, as was just checked.
        Ok(unsafe { self.base.add(offset) })
    }

    /// Decides the segment's purpose, once. Returns `false` if it already has another one.
    fn decide(&self, purpose: u32) -> bool {
        // Relaxed: the order of changes of one word decides; it publishes nothing.
        let (first, now) = (Ordering::Relaxed, Ordering::Relaxed);
        let was = self
            .purpose
            .compare_exchange(UNDECIDED, purpose, first, now);
        was.map_or_else(|was| was == purpose, |_| true)
    }

    pub(super) fn allow_views(&self) -> Result<(), SegmentError> {
        match self.decide(VIEWS) {
            true => Ok(()),
            false => Err(SegmentError::Addresses),
        }
    }

    /// Keeps the segment for lines that are handed out once: from now on no view lies over one. Returns
    /// `false` if other processes can write here, or a view was given out.
    pub fn keep_for_addresses(&self) -> bool {
        !self.shared && self.decide(ADDRESSES)
    }

    /// Asks the kernel to keep the pages from `offset` to `offset + len` on NUMA node `node`
    /// (operating system's number), and moves those that lie elsewhere. `offset` is a multiple of
    /// the page size, the end is rounded up.
    ///
    /// Pages of a shared segment move only while no other process has touched them, so each process
    /// binds the memory that it reads before it tells the others where that is. The first page of the
    /// range takes memory, also in a lazy segment.
    ///
    /// # Cost
    ///
    /// Some microseconds, and a copy of each page that moves.
    pub fn bind(&self, offset: usize, len: usize, node: u32) -> Placement {
        let page = rustix::param::page_size();
        let end = offset.checked_add(len).and_then(pages);
        let Some(end) = end.filter(|&end| end <= self.bytes && len > 0) else {
            return Placement::Elsewhere(format!(
                "where it was: {len} bytes at offset {offset} do not lie in a segment of {} bytes",
                self.bytes
            ));
        };
        if !offset.is_multiple_of(page) {
            return Placement::Elsewhere(format!(
                "where it was: offset {offset} is no multiple of the page size, {page}"
            ));
        }
        // SAFETY: within the mapping, as was just checked.
        let first = unsafe { self.base.add(offset) };
        let len = end - offset;
        if self.shared {
            // Only pages that this process has mapped can be moved.
            numa::populate(first, len);
        }
        let requested = numa::prefer(first, len, node);
        numa::populate(first, page);
        numa::outcome(first, node, requested)
    }

    /// Bytes that `count` lines of `T` take in a segment; `usize::MAX` if they are more than that, which no segment has.
    pub const fn bytes_for<T: Lines>(count: usize) -> usize {
        let Some(bytes) = count.checked_mul(size_of::<T>()) else {
            return usize::MAX;
        };
        match bytes.checked_next_multiple_of(PAIR_BYTES) {
            Some(bytes) => bytes,
            None => usize::MAX,
        }
    }

    /// Checks that the machine, and the control groups of this process, have this much memory left. A segment is checked
    /// when it is made. This is for callers that are about to make many, or to allocate as much in another way.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Room`].
    ///
    /// # Cost
    ///
    /// Some ten file reads from 64 MiB on, nothing below.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_wire::Segment;
    /// Segment::check_room(4096)?;
    /// assert!(Segment::check_room(usize::MAX).is_err());
    /// # Ok::<(), corecast_wire::SegmentError>(())
    /// ```
    pub fn check_room(bytes: usize) -> Result<(), SegmentError> {
        match bytes < CHECKED_FROM {
            true => Ok(()),
            false => room::check(bytes, false),
        }
    }

    /// The segment's length in bytes, a multiple of the page size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether other processes can map the segment too.
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// The place where the memory lies. Ranges that were moved by [`Segment::bind`] are not included;
    /// that call returns their placement.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        if self.whole.is_some() {
            return;
        }
        #[cfg(corecast_simulated)]
        crate::simulated::unmapped(self.base.as_ptr().addr());
        // SAFETY: the memory of `map`, unmapped once; every `LineSlice` into it held an Arc.
        unsafe { memory::unmap(self.base, self.bytes) };
    }
}

/// `bytes` rounded up to pages, at least one; `None` if no mapping can be that long.
pub(super) fn pages(bytes: usize) -> Option<usize> {
    let bytes = bytes
        .max(1)
        .checked_next_multiple_of(rustix::param::page_size())?;
    (bytes <= isize::MAX as usize).then_some(bytes)
}

/// The memory of segments: mappings.
#[cfg(not(miri))]
mod memory {
    use std::ptr::NonNull;

    /// Maps `bytes`, a multiple of the page size. After `None` the system's last error says why.
    pub(super) fn map(bytes: usize, flags: libc::c_int, file: libc::c_int) -> Option<NonNull<u8>> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, file, 0) };
        (base != libc::MAP_FAILED)
            .then(|| NonNull::new(base.cast::<u8>()).expect("mmap returned null"))
    }

    /// Unmaps what [`map`] has mapped.
    ///
    /// # Safety
    ///
    /// - `base` and `bytes` are those of one `map`, which was not unmapped before.
    /// - Nobody accesses the memory any more.
    pub(super) unsafe fn unmap(base: NonNull<u8>, bytes: usize) {
        // SAFETY: as the caller promises.
        let done = unsafe { libc::munmap(base.as_ptr().cast(), bytes) };
        debug_assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
    }
}

/// The memory of segments under Miri: the heap, as there are neither advice nor files to map.
#[cfg(miri)]
mod memory {
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::ptr::NonNull;

    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, rustix::param::page_size()).expect("pages fit")
    }

    /// Allocates `bytes`; `None` for memory of a file.
    pub(super) fn map(bytes: usize, _flags: libc::c_int, file: libc::c_int) -> Option<NonNull<u8>> {
        // SAFETY: a segment has at least one page.
        (file < 0).then(|| NonNull::new(unsafe { alloc_zeroed(layout(bytes)) }))?
    }

    /// Frees what [`map`] has allocated.
    ///
    /// # Safety
    ///
    /// As of the other one.
    pub(super) unsafe fn unmap(base: NonNull<u8>, bytes: usize) {
        // SAFETY: as the caller promises.
        unsafe { dealloc(base.as_ptr(), layout(bytes)) };
    }
}
