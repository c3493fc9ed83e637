//! The two ways by which a segment hands out its lines: one after the other, or by their offset.

use super::error::SegmentError;
use super::lines::Lines;
use super::mapped::Segment;
use super::view::LineSlice;
use crate::line::PAIR_BYTES;
use crate::sync::Ordering;
use std::sync::Arc;

impl Segment {
    /// The next `count` lines, all zero unless [`Segment::at`] was used to write there.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Full`].
    pub fn lines<T: Lines>(self: &Arc<Self>, count: usize) -> Result<LineSlice<T>, SegmentError> {
        const { assert!(align_of::<T>() <= PAIR_BYTES && !std::mem::needs_drop::<T>()) };
        let wanted = Self::bytes_for::<T>(count);
        // All accesses are Relaxed: the counter hands out disjoint ranges, and publishes nothing. It never counts what
        // is refused, so it stays within the segment.
        let mut start = self.used.load(Ordering::Relaxed);
        loop {
            let left = self.bytes - start as usize;
            if wanted > left {
                return Err(SegmentError::Full { left, wanted });
            }
            let (set, not_set) = (Ordering::Relaxed, Ordering::Relaxed);
            let end = start + wanted as u64;
            match self.used.compare_exchange(start, end, set, not_set) {
                Ok(_) => break,
                Err(other) => start = other,
            }
        }
        Ok(self.view(start as usize, count))
    }

    /// `count` values that begin `offset` bytes into the segment. Unlike [`Segment::lines`] this
    /// returns the same place at every call, so processes that use one offset meet.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Outside`] or [`SegmentError::Misaligned`], so an offset or a count that
    /// another process wrote may be passed unchecked. [`SegmentError::Addresses`] if the segment is
    /// kept for addresses.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_wire::{Flag, Segment};
    /// let segment = Segment::new(4096, None)?;
    /// segment.at::<Flag>(128, 2)?[1].raise(7);
    /// assert_eq!(segment.at::<Flag>(256, 1)?[0].seq(), 7);
    /// assert!(segment.at::<Flag>(4096, 1).is_err());
    /// # Ok::<(), corecast_wire::SegmentError>(())
    /// ```
    pub fn at<T: Lines>(
        self: &Arc<Self>,
        offset: usize,
        count: usize,
    ) -> Result<LineSlice<T>, SegmentError> {
        const { assert!(align_of::<T>() <= PAIR_BYTES && !std::mem::needs_drop::<T>()) };
        let each = size_of::<T>();
        let end = count.checked_mul(each).and_then(|n| n.checked_add(offset));
        if end.is_none_or(|end| end > self.bytes) {
            return Err(SegmentError::Outside {
                offset,
                count,
                each,
                bytes: self.bytes,
            });
        }
        if !offset.is_multiple_of(align_of::<T>()) {
            let align = align_of::<T>();
            return Err(SegmentError::Misaligned { offset, align });
        }
        self.allow_views()?;
        Ok(self.view(offset, count))
    }

    fn view<T: Lines>(self: &Arc<Self>, offset: usize, count: usize) -> LineSlice<T> {
        LineSlice {
            // SAFETY: both callers have checked that the range lies in the mapping.
            first: unsafe { self.base.add(offset) }.as_ptr().cast(),
            len: count,
            segment: Arc::clone(self),
        }
    }
}
