//! Memory in which lines live: page-aligned, zeroed, placed on a NUMA node.
//!
//! A segment belongs to the thread that *reads* its lines, and lies on that thread's NUMA node
//! (Smelt §3.2: messages are placed on the receiver's node). Lines are handed out once and never
//! taken back; the mapping goes when the last reference goes.

use std::fmt;
use std::sync::Arc;

/// Types that may lie in a segment.
///
/// # Safety
///
/// - All-zero bytes are a valid value, equal to `Default::default()`.
/// - The type needs no `Drop`, and is shared between threads by atomics or by a protocol that its
///   owner states.
pub unsafe trait Lines: Default + Send + Sync + 'static {}

// SAFETY: one atomic integer; zero is its default.
unsafe impl Lines for crate::Flag {}
// SAFETY: one atomic integer (AWAKE is zero); `Bed` is empty outside of models.
unsafe impl Lines for crate::Line<crate::Parker> {}

/// Why a segment could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// The kernel refused to map the memory.
    #[error(
        "cannot map {bytes} bytes for lines: {source}; use fewer slots or ranks, or raise the memory limit"
    )]
    Map {
        /// Bytes asked for.
        bytes: usize,
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// More lines were asked for than the segment was made for.
    #[error("the segment has {left} bytes left, {wanted} are wanted")]
    Full {
        /// Bytes left.
        left: usize,
        /// Bytes wanted.
        wanted: usize,
    },
}

/// Where a segment's memory came to lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// No node was asked for.
    Anywhere,
    /// On this node (operating system's number), as asked, and confirmed by the kernel.
    On(u32),
    /// The kernel refused or ignored the wish; the sentence says which.
    Elsewhere(String),
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anywhere => f.write_str("anywhere"),
            Self::On(node) => write!(f, "NUMA node {node}"),
            Self::Elsewhere(why) => f.write_str(why),
        }
    }
}

/// A typed run of lines in a segment, which it keeps alive.
pub struct LineSlice<T> {
    first: *const T,
    len: usize,
    segment: Arc<Segment>,
}

// SAFETY: `T: Lines` is Sync, and the segment lives as long as the slice.
unsafe impl<T: Lines> Send for LineSlice<T> {}
// SAFETY: as above; only shared references to `T` are given out.
unsafe impl<T: Lines> Sync for LineSlice<T> {}

impl<T> Clone for LineSlice<T> {
    fn clone(&self) -> Self {
        Self {
            first: self.first,
            len: self.len,
            segment: Arc::clone(&self.segment),
        }
    }
}

impl<T> fmt::Debug for LineSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "LineSlice({} x {})",
            self.len,
            std::any::type_name::<T>()
        )
    }
}

impl<T: Lines> std::ops::Deref for LineSlice<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `Segment::lines` made `first..first+len` valid, initialised and shared by
        // references only; the segment is alive because `self` holds it.
        unsafe { core::slice::from_raw_parts(self.first, self.len) }
    }
}

impl<T: Lines> LineSlice<T> {
    /// One of the lines by itself.
    ///
    /// # Panics
    ///
    /// If `index` is out of range.
    pub fn get(&self, index: usize) -> LineRef<T> {
        assert!(index < self.len, "line {index} of {}", self.len);
        LineRef(Self {
            first: &raw const self[index],
            len: 1,
            segment: Arc::clone(&self.segment),
        })
    }

    /// The segment that they lie in.
    pub fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }
}

/// One line in a segment.
#[derive(Debug)]
pub struct LineRef<T>(LineSlice<T>);

impl<T> Clone for LineRef<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Lines> std::ops::Deref for LineRef<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: as for `LineSlice`; a `LineRef` is a slice of exactly one.
        unsafe { &*self.0.first }
    }
}

pub use imp::Segment;

impl Segment {
    /// A single line in a small segment of its own.
    ///
    /// # Errors
    ///
    /// As [`Segment::new`].
    pub fn one<T: Lines>(node: Option<u32>) -> Result<LineRef<T>, SegmentError> {
        let segment = Self::new(size_of::<T>(), node)?;
        Ok(segment.lines::<T>(1)?.get(0))
    }
}

#[cfg(not(loom))]
mod imp {
    use super::{LineSlice, Lines, Placement, SegmentError};
    use crate::line::PAIR_BYTES;
    use std::ptr::NonNull;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const PAGE_BYTES: usize = 4096;

    /// Zeroed memory for lines; see the module.
    #[derive(Debug)]
    pub struct Segment {
        base: NonNull<u8>,
        bytes: usize,
        used: AtomicUsize,
        placement: Placement,
    }

    // SAFETY: the mapping is plain memory; every access goes through `T: Lines`.
    unsafe impl Send for Segment {}
    // SAFETY: as above; `lines` hands out disjoint parts by an atomic counter.
    unsafe impl Sync for Segment {}

    impl Segment {
        /// Maps `bytes` (rounded up to pages), on `node` where that is possible, and touches them.
        ///
        /// # Errors
        ///
        /// [`SegmentError::Map`]. A refused placement is no error: see [`Segment::placement`].
        pub fn new(bytes: usize, node: Option<u32>) -> Result<Arc<Self>, SegmentError> {
            let bytes = bytes.max(1).next_multiple_of(PAGE_BYTES);
            // SAFETY: an anonymous private mapping at an address of the kernel's choice.
            let base = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    bytes,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            if base == libc::MAP_FAILED {
                let source = std::io::Error::last_os_error();
                return Err(SegmentError::Map { bytes, source });
            }
            let base = NonNull::new(base.cast::<u8>()).expect("mmap returned null");
            let wish = node.map(|node| prefer(base, bytes, node));
            for page in (0..bytes).step_by(PAGE_BYTES) {
                // SAFETY: within the mapping, which nobody else knows yet. The write, not a read,
                // makes the kernel give the page its own memory now.
                unsafe { base.add(page).write_volatile(0) };
            }
            let placement = match (node, wish) {
                (Some(node), Some(Ok(()))) => match node_of(base) {
                    Some(found) if found == node => Placement::On(node),
                    Some(found) => Placement::Elsewhere(format!(
                        "on NUMA node {found} instead of {node}: node {node} has no memory to give"
                    )),
                    None => Placement::Elsewhere(format!(
                        "wished on NUMA node {node}; the kernel does not tell where it lies"
                    )),
                },
                (Some(node), Some(Err(why))) => Placement::Elsewhere(format!(
                    "where it was first touched: binding to NUMA node {node} was refused ({why})"
                )),
                _ => Placement::Anywhere,
            };
            Ok(Arc::new(Self {
                base,
                bytes,
                used: AtomicUsize::new(0),
                placement,
            }))
        }

        /// The next `count` lines, all zero.
        ///
        /// # Errors
        ///
        /// [`SegmentError::Full`].
        pub fn lines<T: Lines>(
            self: &Arc<Self>,
            count: usize,
        ) -> Result<LineSlice<T>, SegmentError> {
            const { assert!(align_of::<T>() <= PAIR_BYTES && !std::mem::needs_drop::<T>()) };
            let wanted = Self::bytes_for::<T>(count);
            // Relaxed: the counter hands out disjoint ranges; it publishes nothing.
            let start = self.used.fetch_add(wanted, Ordering::Relaxed);
            if start + wanted > self.bytes {
                self.used.fetch_sub(wanted, Ordering::Relaxed);
                let left = self.bytes.saturating_sub(start);
                return Err(SegmentError::Full { left, wanted });
            }
            Ok(LineSlice {
                // SAFETY: `start + wanted` lies in the mapping, as was just checked.
                first: unsafe { self.base.add(start) }.as_ptr().cast(),
                len: count,
                segment: Arc::clone(self),
            })
        }

        /// Bytes that `count` lines of `T` take in a segment.
        pub const fn bytes_for<T: Lines>(count: usize) -> usize {
            (count * size_of::<T>()).next_multiple_of(PAIR_BYTES)
        }

        /// Where the memory lies.
        pub fn placement(&self) -> &Placement {
            &self.placement
        }
    }

    impl Drop for Segment {
        fn drop(&mut self) {
            // SAFETY: the mapping of `new`, unmapped once; every `LineSlice` into it held an Arc.
            let done = unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
            debug_assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
        }
    }

    /// Asks the kernel to take the pages from `node`.
    fn prefer(base: NonNull<u8>, bytes: usize, node: u32) -> std::io::Result<()> {
        const MPOL_PREFERRED: libc::c_int = 1;
        let mut mask = [0u64; 16];
        let Some(word) = mask.get_mut(node as usize / 64) else {
            return Err(std::io::ErrorKind::InvalidInput.into());
        };
        *word = 1 << (node % 64);
        // SAFETY: the range is our mapping, the mask has as many bits as is said.
        let done = unsafe {
            libc::syscall(
                libc::SYS_mbind,
                base.as_ptr(),
                bytes,
                MPOL_PREFERRED,
                mask.as_ptr(),
                mask.len() * 64 + 1,
                0,
            )
        };
        if done == 0 {
            Ok(())
        } else {
            Err(std::io::Error::last_os_error())
        }
    }

    /// On which node a touched page lies.
    fn node_of(page: NonNull<u8>) -> Option<u32> {
        let pages = [page.as_ptr()];
        let mut status = [-1i32];
        // SAFETY: one page, one status; a null list of nodes only asks.
        let done = unsafe {
            libc::syscall(
                libc::SYS_move_pages,
                0,
                1usize,
                pages.as_ptr(),
                std::ptr::null::<libc::c_int>(),
                status.as_mut_ptr(),
                0,
            )
        };
        (done == 0).then(|| u32::try_from(status[0]).ok()).flatten()
    }
}

#[cfg(loom)]
mod imp {
    use super::{LineSlice, Lines, Placement, SegmentError};
    use std::sync::{Arc, Mutex};

    /// Lines on the heap: loom's types are no plain memory.
    #[derive(Debug, Default)]
    pub struct Segment {
        kept: Mutex<Vec<Kept>>,
    }

    struct Kept(#[allow(dead_code)] Box<dyn std::any::Any + Send + Sync>);

    impl std::fmt::Debug for Kept {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Kept")
        }
    }

    impl Segment {
        /// An empty segment.
        pub fn new(_bytes: usize, _node: Option<u32>) -> Result<Arc<Self>, SegmentError> {
            Ok(Arc::new(Self::default()))
        }

        /// The next `count` lines, all in their default state.
        pub fn lines<T: Lines>(
            self: &Arc<Self>,
            count: usize,
        ) -> Result<LineSlice<T>, SegmentError> {
            let lines: Arc<[T]> = (0..count).map(|_| T::default()).collect();
            let first = lines.as_ptr();
            self.kept.lock().unwrap().push(Kept(Box::new(lines)));
            Ok(LineSlice {
                first,
                len: count,
                segment: Arc::clone(self),
            })
        }

        /// Bytes that `count` lines of `T` take in a segment.
        pub const fn bytes_for<T: Lines>(count: usize) -> usize {
            count
        }

        /// Where the memory lies.
        pub fn placement(&self) -> &Placement {
            &Placement::Anywhere
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{Flag, PAIR_BYTES};

    #[test]
    fn lines_are_zeroed_aligned_and_disjoint() {
        let segment = Segment::new(Segment::bytes_for::<Flag>(40), None).unwrap();
        let lines = segment.lines::<Flag>(40).unwrap();
        for (i, line) in lines.iter().enumerate() {
            assert_eq!((&raw const *line).addr() % PAIR_BYTES, 0);
            assert_eq!(line.seq(), 0);
            line.raise(i as u64 + 1);
        }
        assert!((1..=40).eq(lines.iter().map(Flag::seq)));
    }

    #[test]
    fn a_full_segment_says_what_is_left() {
        let segment = Segment::new(4096, None).unwrap();
        segment.lines::<Flag>(31).unwrap();
        let error = segment.lines::<Flag>(2).unwrap_err().to_string();
        assert_eq!(error, "the segment has 128 bytes left, 256 are wanted");
        segment.lines::<Flag>(1).unwrap();
    }

    #[test]
    fn lines_outlive_the_segment_handle() {
        let line = Segment::one::<Flag>(None).unwrap();
        line.raise(7);
        assert_eq!(line.clone().seq(), 7);
    }

    #[test]
    fn placement_on_node_0_is_granted_or_explained() {
        let segment = Segment::new(4096, Some(0)).unwrap();
        match segment.placement() {
            Placement::On(node) => assert_eq!(*node, 0),
            Placement::Elsewhere(why) => assert!(!why.is_empty()),
            Placement::Anywhere => panic!("a node was asked for"),
        }
    }

    #[test]
    fn a_node_that_does_not_exist_is_explained() {
        for node in [900, 5000] {
            let segment = Segment::new(4096, Some(node)).unwrap();
            let said = segment.placement().to_string();
            assert!(said.contains(&node.to_string()), "{said}");
        }
    }
}
