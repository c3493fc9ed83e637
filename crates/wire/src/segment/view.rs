//! Lines that lie in a segment, and keep it alive.

use super::Segment;
use super::error::SegmentError;
use super::lines::Lines;
use std::fmt;
use std::sync::Arc;

/// A typed run of lines in a segment, which it keeps alive.
pub struct LineSlice<T> {
    pub(super) first: *const T,
    pub(super) len: usize,
    pub(super) segment: Arc<Segment>,
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
    /// Line number `index` by itself.
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

    /// The segment that the lines lie in.
    pub fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }
}

/// One line in a segment.
#[derive(Debug)]
pub struct LineRef<T>(LineSlice<T>);

impl<T> LineRef<T> {
    /// The segment that the line lies in.
    pub fn segment(&self) -> &Arc<Segment> {
        &self.0.segment
    }
}

impl<T: Lines> LineRef<T> {
    /// A part of the line by itself.
    pub(crate) fn part<U: Lines>(&self, part: impl FnOnce(&T) -> &U) -> LineRef<U> {
        LineRef(LineSlice {
            // `Lines` have no references, so it lies in the line, which the segment keeps alive, or lives for ever.
            first: part(self),
            len: 1,
            segment: Arc::clone(&self.0.segment),
        })
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
