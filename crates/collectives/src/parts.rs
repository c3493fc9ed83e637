//! The places of ranks' parts in a buffer: the counts and displacements of `scatterv` and the like.

use std::ops::Range;

/// A part of a buffer for each rank: the number of its elements, and the element at which it begins. Parts may lie
/// in any order, with gaps between them.
///
/// # Examples
///
/// ```
/// use corecast_collectives::Parts;
///
/// let parts = Parts::new(&[2, 0, 3], &[3, 3, 0]);
/// assert_eq!((parts.of(0), parts.of(2)), (3..5, 0..3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<'a> {
    counts: &'a [usize],
    displacements: &'a [usize],
}

impl<'a> Parts<'a> {
    /// Parts of `counts[r]` elements from element `displacements[r]` on, for each rank r.
    ///
    /// # Panics
    ///
    /// If `counts` and `displacements` differ in length.
    #[track_caller]
    pub fn new(counts: &'a [usize], displacements: &'a [usize]) -> Self {
        assert!(
            counts.len() == displacements.len(),
            "{} counts and {} displacements: give both for each rank",
            counts.len(),
            displacements.len()
        );
        Self {
            counts,
            displacements,
        }
    }

    /// The part of `rank`, in elements.
    #[inline]
    pub fn of(self, rank: usize) -> Range<usize> {
        let start = self.displacements[rank];
        start..start + self.counts[rank]
    }

    /// Returns the function from a rank to its part in bytes, for elements of `element_size` bytes. The parts must
    /// have been [checked](Self::check).
    #[inline]
    pub fn bytes(self, element_size: usize) -> impl Fn(usize) -> Range<usize> + Copy {
        move |rank| {
            let part = self.of(rank);
            part.start * element_size..part.end * element_size
        }
    }

    /// Asserts that there is a part for each of `n` ranks within `len` elements.
    #[track_caller]
    #[inline]
    pub fn check(self, n: usize, len: usize) {
        let ranks = self.counts.len();
        assert!(ranks == n, "parts for {ranks} ranks in a team of {n}");
        for (rank, (&count, &start)) in self.counts.iter().zip(self.displacements).enumerate() {
            assert!(
                start.checked_add(count).is_some_and(|end| end <= len),
                "the part of rank {rank}, {count} elements from {start} on, is not within the buffer's {len}"
            );
        }
    }

    /// Asserts what [`check`](Self::check) does, and that no two parts overlap.
    ///
    /// # Cost
    ///
    /// One pass where parts lie in rank order, else one for each rank.
    #[track_caller]
    #[inline]
    pub fn check_to_write(self, n: usize, len: usize) {
        self.check(n, len);
        let mut end = 0;
        for rank in 0..n {
            if self.counts[rank] == 0 {
                continue;
            }
            if self.displacements[rank] < end {
                return self.check_any_order(n);
            }
            end = self.of(rank).end;
        }
    }

    #[cold]
    #[track_caller]
    fn check_any_order(self, n: usize) {
        for a in 0..n {
            for b in 0..a {
                let (first, second) = (self.of(b), self.of(a));
                let apart = first.end <= second.start || second.end <= first.start;
                assert!(
                    apart || first.is_empty() || second.is_empty(),
                    "the parts of ranks {b} (elements {first:?}) and {a} ({second:?}) overlap"
                );
            }
        }
    }
}

/// Returns the function from a rank to its part, for parts of `len` bytes each that follow each other in rank
/// order.
#[inline]
pub(crate) fn equal(len: usize) -> impl Fn(usize) -> Range<usize> + Copy {
    move |rank| rank * len..(rank + 1) * len
}

/// The bytes of `part` from its byte `start` on, up to `len`.
pub(crate) fn slice(part: Range<usize>, start: usize, len: usize) -> Range<usize> {
    let at = |offset: usize| part.start + offset.min(part.len());
    at(start)..at(start + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(check: impl Fn() + std::panic::UnwindSafe) -> String {
        let payload = std::panic::catch_unwind(check).expect_err("this is wrong");
        payload.downcast_ref::<String>().unwrap().clone()
    }

    #[test]
    fn parts_lie_apart_and_inside() {
        Parts::new(&[2, 0, 3], &[3, 4, 0]).check_to_write(3, 5);
        Parts::new(&[2, 2], &[0, 1]).check(2, 3);
        let overlap = refused(|| Parts::new(&[2, 2], &[1, 0]).check_to_write(2, 3));
        assert!(
            overlap.contains("ranks 0 (elements 1..3) and 1 (0..2) overlap"),
            "{overlap}"
        );
        let outside = refused(|| Parts::new(&[2, 2], &[0, 2]).check(2, 3));
        assert!(outside.contains("rank 1, 2 elements from 2 on, is not within the buffer's 3"));
        assert!(refused(|| Parts::new(&[1], &[usize::MAX]).check(1, 3)).contains("not within"));
        assert!(refused(|| Parts::new(&[1], &[0]).check(2, 3)).contains("1 ranks in a team of 2"));
        assert!(
            refused(|| Parts::new(&[1, 2], &[0]).check(1, 1)).contains("2 counts and 1 displace")
        );
    }
}
