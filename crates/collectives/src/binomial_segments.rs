//! The segments in which scatters and gathers send the parts of a subtree of a binomial tree.
//!
//! ```text
//!   bytes of all ranks   │ 0   │ 1   │ 2   │ 3   │ 4   │ 5   │ 6   │ 7   │   parts, counted from the root
//!                        ╎       ╎       ╎       ╎       ╎       ╎       ╎    segments
//!   of 4, from its parent                        │╌╌╌╌╌╌╌╎╌╌╌╌╌╌╌╎╌╌╌╌╌╌╌│
//!   of 6, from 4                                             │╌╌╌╎╌╌╌╌╌╌╌│
//! ```

use crate::binomial_tree::{children, parent, subtree};
use std::ops::Range;

/// The pieces of `range` in segments of `bytes`, which all ranks count from the first byte of the root's part. So a
/// piece of a child's range lies in one piece of its parent's. An empty range has one empty piece.
#[inline]
pub(crate) fn segments(
    range: Range<usize>,
    bytes: usize,
) -> impl DoubleEndedIterator<Item = Range<usize>> + Clone {
    // Short data have one segment, and two divisions would take a tenth of the time of a message.
    let numbers = match range.end <= bytes {
        true => 0..1,
        false => range.start / bytes..(range.end.max(range.start + 1) - 1) / bytes + 1,
    };
    numbers.map(move |k| range.start.max(k * bytes)..range.end.min((k + 1) * bytes))
}

/// The scratch of a rank, which it uses for one piece after another.
#[derive(Clone, Copy)]
pub(crate) struct Slots {
    bytes: usize,
    count: usize,
}

impl Slots {
    /// Slots for the pieces of ranges of up to `longest` bytes, in segments of `segment`.
    #[inline]
    pub(crate) fn new(longest: usize, segment: usize) -> Self {
        match longest <= segment {
            true => Self {
                bytes: longest,
                count: 1,
            },
            false => Self {
                bytes: segment,
                count: longest.div_ceil(segment).min(SLOTS_MAX),
            },
        }
    }

    /// The place of the piece with this index.
    #[inline]
    pub(crate) fn place(self, index: usize, len: usize) -> Range<usize> {
        let start = match self.count {
            1 => 0,
            count => index % count * self.bytes,
        };
        start..start + len
    }
}

/// Number of segments that a rank keeps at the same time: while one comes, others go on.
const SLOTS_MAX: usize = 4;

/// A rank's part of a scatter or gather: its place in the tree, and how the data are cut.
#[derive(Clone, Copy)]
pub(crate) struct Place<S> {
    /// The rank, counted from the root.
    pub(crate) v: usize,
    root: usize,
    pub(crate) n: usize,
    /// The number of bytes of an interval of ranks, counted from the root.
    size: S,
    /// Bytes of a segment.
    pub(crate) segment: usize,
}

impl<S: Fn(Range<usize>) -> usize> Place<S> {
    #[inline]
    pub(crate) fn new(rank: usize, root: usize, n: usize, (size, segment): (S, usize)) -> Self {
        let v = match rank >= root {
            true => rank - root,
            false => rank + n - root,
        };
        Self {
            v,
            root,
            n,
            size,
            segment,
        }
    }

    /// The rank that is `v` counted from the root.
    #[inline]
    pub(crate) fn rank_of(&self, v: usize) -> usize {
        match v + self.root {
            rank if rank < self.n => rank,
            around => around - self.n,
        }
    }

    /// The rank above this one.
    #[inline]
    pub(crate) fn above(&self) -> usize {
        self.rank_of(parent(self.v))
    }

    #[inline]
    pub(crate) fn is_leaf(&self) -> bool {
        self.v != 0 && subtree(self.v, self.n).len() == 1
    }

    /// The bytes of `ranks` among those of all ranks, in order and counted from the root.
    #[inline]
    pub(crate) fn bytes_of(&self, ranks: Range<usize>) -> Range<usize> {
        let start = (self.size)(0..ranks.start);
        start..start + (self.size)(ranks)
    }

    /// The bytes of the part of this rank.
    #[inline]
    pub(crate) fn own(&self) -> Range<usize> {
        self.bytes_of(self.v..self.v + 1)
    }

    /// The bytes of the subtree of `v`.
    #[inline]
    pub(crate) fn below(&self, v: usize) -> Range<usize> {
        self.bytes_of(subtree(v, self.n))
    }

    /// The pieces of the subtree of `v`.
    #[inline]
    pub(crate) fn pieces(
        &self,
        v: usize,
    ) -> impl DoubleEndedIterator<Item = Range<usize>> + use<S> {
        segments(self.below(v), self.segment)
    }

    /// The slots of this rank: the root needs them for pieces of its children, others for their own.
    #[inline]
    pub(crate) fn slots(&self) -> Slots {
        let longest = match self.v {
            0 => children(0, self.n)
                .map(|child| self.below(child).len())
                .max(),
            v => Some(self.below(v).len()),
        };
        Slots::new(longest.unwrap_or(0), self.segment)
    }

    /// Bytes of the scratch of this rank. `part` is the place of each rank's part in the root's buffer.
    #[inline]
    pub(crate) fn scratch_bytes(&self, part: impl Fn(usize) -> Range<usize>) -> usize {
        let all = || places((0, 0), self.below(0), self.n, |v| part(self.rank_of(v)));
        if self.is_leaf() || self.v == 0 && joined(all()).is_some() {
            return 0;
        }
        let Slots { bytes, count } = self.slots();
        bytes * count
    }
}

/// The places in the root's buffer of the bytes from `range` on, of which `v` has the first one. The part of `v`
/// starts at byte `start`.
#[inline]
pub(crate) fn places(
    (v, start): (usize, usize),
    range: Range<usize>,
    n: usize,
    part: impl Fn(usize) -> Range<usize>,
) -> impl Iterator<Item = Range<usize>> {
    let mut start = start;
    (v..n)
        .map_while(move |v| {
            (start < range.end).then(|| {
                let part = part(v);
                let (before, end) = (range.start.max(start) - start, range.end - start);
                start += part.len();
                part.start + before..part.end.min(part.start + end)
            })
        })
        .filter(|place| !place.is_empty())
}

/// The one place that these places are, if each begins where the one before ends.
#[inline]
pub(crate) fn joined(mut places: impl Iterator<Item = Range<usize>>) -> Option<Range<usize>> {
    let first = places.next().unwrap_or(0..0);
    places.try_fold(first, |all, next| {
        (all.end == next.start).then_some(all.start..next.end)
    })
}
