//! Memory in which lines live: page-aligned, zeroed, placed on a NUMA node.
//!
//! A segment belongs to the thread that *reads* its lines, and lies on that thread's NUMA node
//! (Smelt §3.2: messages are placed on the receiver's node). The mapping goes when the last
//! reference goes. Three forms:
//!
//! | form | made by | memory | lines by |
//! | --- | --- | --- | --- |
//! | private | [`Segment::new`] | touched at once | [`Segment::lines`], handed out once, or [`Segment::at`] |
//! | private, lazy | [`Segment::reserve`] | each page when it is first written | the same |
//! | shared | [`Segment::shared`], [`Segment::attach`] | reserved at once, sealed | [`Segment::at`], by offsets that all processes agree on |

#[cfg(not(loom))]
mod mapped;
#[cfg(loom)]
mod modelled;
#[cfg(not(loom))]
mod numa;
#[cfg(not(loom))]
mod room;
#[cfg(not(loom))]
mod shared;

#[cfg(not(loom))]
pub use mapped::Segment;
#[cfg(loom)]
pub use modelled::Segment;

use std::fmt;
use std::sync::Arc;

/// Types that may lie in a segment.
///
/// The memory may be shared with a process that dies between two stores, or writes what it likes.
/// So nothing that is read from it is followed as an address, or used as a length or an index,
/// before a copy of it was checked.
///
/// # Safety
///
/// - All-zero bytes are a valid value, equal to `Default::default()`; every other bit pattern is a
///   valid value too, and may appear at any moment.
/// - The type needs no `Drop`, and is shared between threads by atomics or by a protocol that its
///   owner states. Values may lie one over the other ([`Segment::at`]): that leads to wrong numbers
///   at worst.
pub unsafe trait Lines: Default + Send + Sync + 'static {}

// SAFETY: one atomic integer, of which any value is valid; zero is its default.
unsafe impl Lines for crate::Flag {}
// SAFETY: one atomic integer, of which any value is valid (AWAKE is zero; a word that nobody wrote
// is only ever compared, see `park`); `Bed` is empty outside of models.
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
    /// A view that does not lie in the segment.
    #[error(
        "{count} values of {each} bytes at offset {offset} do not lie in a segment of {bytes} bytes"
    )]
    Outside {
        /// First byte wanted.
        offset: usize,
        /// Values wanted.
        count: usize,
        /// Bytes of each.
        each: usize,
        /// Bytes of the segment.
        bytes: usize,
    },
    /// A view that does not begin where its type may begin.
    #[error("offset {offset} is no multiple of {align}, to which the values there are aligned")]
    Misaligned {
        /// First byte wanted.
        offset: usize,
        /// Bytes to whose multiples the type is aligned.
        align: usize,
    },
    /// A view of memory that holds addresses of loans.
    #[error(
        "this memory holds addresses of lent data, which nothing else may overwrite: ask for lines of it, or for another segment"
    )]
    Addresses,
    /// The machine, or this process's share of it, has less memory than was asked for.
    #[error(
        "{bytes} bytes of shared memory are wanted, {left} are left by {limit}; use fewer slots or ranks, or raise that limit"
    )]
    Room {
        /// Bytes asked for.
        bytes: usize,
        /// Bytes left.
        left: u64,
        /// What limits them.
        limit: String,
    },
    /// The kernel refused shared memory.
    #[error("cannot {step} {bytes} bytes of shared memory: {source}{}", hint(.source))]
    Shared {
        /// What was refused.
        step: &'static str,
        /// Bytes asked for.
        bytes: usize,
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// A descriptor that is no segment of a team, or not of this user.
    #[error("the descriptor for shared memory is not usable: {why}")]
    Foreign {
        /// What is wrong with it.
        why: String,
    },
}

/// What helps when shared memory was refused.
fn hint(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::OutOfMemory | std::io::ErrorKind::StorageFull => {
            "; use fewer slots or ranks, or raise the memory limit"
        }
        _ => "",
    }
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
        // SAFETY: `Segment::lines` or `at` made `first..first+len` valid, initialised and shared by
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

impl<T> LineRef<T> {
    /// The segment that it lies in.
    pub fn segment(&self) -> &Arc<Segment> {
        &self.0.segment
    }
}

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

    #[test]
    fn a_view_lies_within_the_segment_and_on_its_alignment() {
        for segment in [Segment::new(1, None), Segment::reserve(4096)].map(Result::unwrap) {
            let end = segment.bytes();
            let view = |offset, count| {
                let view = segment.at::<Flag>(offset, count);
                view.map(|v| v.len()).map_err(|e| e.to_string())
            };
            assert_eq!(view(0, end / 128), Ok(end / 128));
            assert_eq!(view(end - 128, 1), Ok(1));
            assert_eq!(view(end, 0), Ok(0));
            for (offset, count) in [
                (end, 1),
                (end - 128, 2),
                (usize::MAX, 1),
                (0, usize::MAX),
                (128, usize::MAX / 128),
                (usize::MAX - 127, 1),
            ] {
                let said = view(offset, count).unwrap_err();
                let expected = format!(
                    "{count} values of 128 bytes at offset {offset} do not lie in a segment of {end} bytes"
                );
                assert_eq!(said, expected);
            }
            let said = view(64, 1).unwrap_err();
            assert!(
                said.starts_with("offset 64 is no multiple of 128"),
                "{said}"
            );
        }
    }

    #[test]
    fn what_is_reserved_takes_no_memory_until_it_is_written() {
        // The pages of this very mapping, as another test may take memory meanwhile.
        let resident = |address: usize| {
            let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let mut inside = false;
            for line in maps.lines() {
                if let Some((low, high)) = line.split(' ').next().unwrap().split_once('-')
                    && let Ok(low) = usize::from_str_radix(low, 16)
                    && let Ok(high) = usize::from_str_radix(high, 16)
                {
                    inside = (low..high).contains(&address);
                } else if inside && let Some(rss) = line.strip_prefix("Rss:") {
                    let rss = rss.trim().strip_suffix("kB").unwrap();
                    return rss.trim().parse::<usize>().unwrap();
                }
            }
            panic!("no mapping holds {address:x}");
        };
        let segment = Segment::reserve(1 << 32).unwrap();
        let all = segment.at::<Flag>(0, (1 << 32) / 128).unwrap();
        let address = (&raw const all[1 << 20]).addr();
        // Where the kernel joins neighbouring mappings they count too, but not by a gibibyte.
        let before = resident(address);
        assert!(before < 1 << 20, "{before} KiB");
        all[1 << 20].raise(1);
        assert!(resident(address) < before + 1024);
    }
}
