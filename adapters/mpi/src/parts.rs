//! Layer 6: buffers with a part for each rank.

use crate::buffers::{Block, Bytes, Elements, Refused, slice, slice_mut};
use corecast::Parts;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ffi::{c_int, c_void};

/// One of each rank. Those of few ranks take no memory of the heap, which short calls would notice.
type EachRank<T> = SmallVec<[T; 8]>;

/// The numbers of elements of each rank's part, and where the parts begin, as MPI's functions have them.
pub(crate) trait Counts: Copy + PartialEq {
    /// The number of elements of a rank's part, and the element at which it begins.
    ///
    /// # Safety
    ///
    /// There are numbers for that rank.
    unsafe fn part(self, rank: usize) -> (i64, isize);

    /// Whether one of the arrays is missing.
    fn is_null(self) -> bool;
}

/// `int` counts and displacements.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Short(pub(crate) *const c_int, pub(crate) *const c_int);

/// `MPI_Count` counts and `MPI_Aint` displacements.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Long(pub(crate) *const i64, pub(crate) *const isize);

impl Counts for Short {
    // SAFETY: the promise of the trait.
    unsafe fn part(self, rank: usize) -> (i64, isize) {
        // SAFETY: the caller's promise.
        unsafe { ((*self.0.add(rank)).into(), *self.1.add(rank) as isize) }
    }

    fn is_null(self) -> bool {
        self.0.is_null() || self.1.is_null()
    }
}

impl Counts for Long {
    // SAFETY: the promise of the trait.
    unsafe fn part(self, rank: usize) -> (i64, isize) {
        // SAFETY: the caller's promise.
        unsafe { (*self.0.add(rank), *self.1.add(rank)) }
    }

    fn is_null(self) -> bool {
        self.0.is_null() || self.1.is_null()
    }
}

/// The elements of all parts of `size` ranks; `None` if a number is none, or an array is missing.
///
/// # Safety
///
/// Arrays that are not missing have a number for each rank.
pub(crate) unsafe fn total(parts: impl Counts, size: usize) -> Option<usize> {
    if parts.is_null() {
        return None;
    }
    (0..size).try_fold(0_usize, |total, rank| {
        // SAFETY: the caller's promise.
        let (count, _) = unsafe { parts.part(rank) };
        total.checked_add(usize::try_from(count).ok()?)
    })
}

/// Where the parts lie in the program's memory.
pub(crate) struct Layout<C> {
    elements: Elements<'static>,
    /// The element that displacements count from.
    start: *mut c_void,
    parts: C,
    size: usize,
}

/// The bytes of all parts, to be read, in place or in a copy.
pub(crate) struct Given {
    data: Cow<'static, [u8]>,
    counts: EachRank<usize>,
    displacements: EachRank<usize>,
}

/// The bytes of all parts, to be written.
pub(crate) struct Room {
    data: Bytes<'static>,
    counts: EachRank<usize>,
    displacements: EachRank<usize>,
}

impl Given {
    pub(crate) fn parts(&self) -> (&[u8], Parts<'_>) {
        (&self.data, Parts::new(&self.counts, &self.displacements))
    }

    /// Leaves of a rank's own part what it both gives and takes.
    ///
    /// # Errors
    ///
    /// The bytes that it gave and took, if they differed.
    #[inline]
    pub(crate) fn fit(&mut self, room: &mut Room, rank: usize) -> Result<(), (usize, usize)> {
        let (given, taken) = (self.counts[rank], room.counts[rank]);
        let both = given.min(taken);
        self.counts[rank] = both;
        room.counts[rank] = both;
        match given == taken {
            true => Ok(()),
            false => Err((given, taken)),
        }
    }
}

impl Room {
    pub(crate) fn parts(&mut self) -> (&mut [u8], Parts<'_>) {
        let parts = Parts::new(&self.counts, &self.displacements);
        (self.data.as_mut(), parts)
    }
}

impl<C: Counts> Layout<C> {
    /// Parts of `size` ranks; `None` if a number is none, or an array is missing.
    ///
    /// # Safety
    ///
    /// Arrays that are not missing have a number for each rank, and stay as they are while there is a layout.
    pub(crate) unsafe fn of(
        start: *mut c_void,
        parts: C,
        size: usize,
        elements: Elements<'static>,
    ) -> Option<Self> {
        let layout = Self {
            elements,
            start,
            parts,
            size,
        };
        let are_numbers = !parts.is_null() && layout.numbers().all(|(count, _)| count >= 0);
        are_numbers.then_some(layout)
    }

    /// Elements of each part, and where it begins.
    #[inline]
    fn numbers(&self) -> impl Iterator<Item = (i64, isize)> {
        // SAFETY: the promise to `of`, which has looked whether the arrays are missing.
        (0..self.size).map(|rank| unsafe { self.parts.part(rank) })
    }

    /// [`numbers`](Self::numbers) of the parts that are not empty.
    #[inline]
    fn full(&self) -> impl Iterator<Item = (i64, isize)> {
        self.numbers().filter(|&(count, _)| count > 0)
    }

    /// A rank's part.
    pub(crate) fn part(&self, rank: usize) -> Block {
        // SAFETY: the promise to `of`.
        let (count, displacement) = unsafe { self.parts.part(rank) };
        Block {
            start: self.elements.place(self.start, displacement),
            count: count as usize,
            elements: self.elements,
        }
    }

    /// The first element of all parts, and the one after the last; `None` if parts cannot be used where they lie.
    fn span(&self) -> Option<(isize, isize)> {
        if !self.elements.found.is_dense {
            return None;
        }
        let (mut first, mut end) = (isize::MAX, isize::MIN);
        for (count, displacement) in self.full() {
            first = first.min(displacement);
            end = end.max(displacement.checked_add(isize::try_from(count).ok()?)?);
        }
        match first > end {
            true => Some((0, 0)),
            false => Some((first, end)),
        }
    }

    /// Whether parts overlap. MPI forbids it, and every library takes it: who comes last decides.
    fn has_overlaps(&self) -> bool {
        let ends = |(count, begin): (i64, isize)| (begin, begin + count as isize);
        let mut last = isize::MIN;
        let are_in_order = self.full().map(ends).all(|(begin, end)| {
            let follows = begin >= last;
            last = end;
            follows
        });
        if are_in_order {
            return false;
        }
        let mut parts: Vec<(isize, isize)> = self.full().map(ends).collect();
        parts.sort_unstable();
        parts.windows(2).any(|pair| pair[1].0 < pair[0].1)
    }

    /// Where each part begins, in bytes from the first one.
    fn offsets(&self, first: isize) -> EachRank<usize> {
        let each = |(count, displacement): (i64, isize)| match count {
            0 => 0,
            _ => self.elements.bytes((displacement - first) as usize),
        };
        self.numbers().map(each).collect()
    }

    /// Where each part begins if they lie side by side, in bytes, and the bytes of all.
    fn side_by_side(&self) -> (EachRank<usize>, usize) {
        let mut end = 0;
        let each = |rank| {
            let begin = end;
            end += self.part(rank).bytes();
            begin
        };
        let offsets = (0..self.size).map(each).collect();
        (offsets, end)
    }

    fn bytes(&self) -> EachRank<usize> {
        let each = |(count, _): (i64, isize)| self.elements.bytes(count as usize);
        self.numbers().map(each).collect()
    }

    /// The parts, to be read.
    ///
    /// # Safety
    ///
    /// The program gave them to be read.
    pub(crate) unsafe fn read(&self) -> Given {
        let Some((first, end)) = self.span() else {
            // SAFETY: the caller's promise.
            return unsafe { self.copy() };
        };
        let len = self.elements.bytes((end - first) as usize);
        Given {
            // SAFETY: the caller's promise. What lies between the parts is not read.
            data: unsafe { slice(self.elements.place(self.start, first), len) }.into(),
            counts: self.bytes(),
            displacements: self.offsets(first),
        }
    }

    /// A copy of the parts.
    ///
    /// # Safety
    ///
    /// The program gave them to be read.
    pub(crate) unsafe fn copy(&self) -> Given {
        let (displacements, len) = self.side_by_side();
        let mut data = Vec::with_capacity(len);
        for rank in 0..self.size {
            // SAFETY: the caller's promise.
            data.extend_from_slice(&unsafe { self.part(rank).read() });
        }
        Given {
            data: data.into(),
            counts: self.bytes(),
            displacements,
        }
    }

    /// Room for the parts, to be written; then give it to [`write`](Self::write).
    ///
    /// # Safety
    ///
    /// The program gave the parts to be written.
    pub(crate) unsafe fn room(&self) -> Room {
        let counts = self.bytes();
        if let Some((first, end)) = self.span().filter(|_| !self.has_overlaps()) {
            let len = self.elements.bytes((end - first) as usize);
            return Room {
                // SAFETY: the caller's promise. What lies between the parts is not written.
                data: Bytes::InPlace(unsafe {
                    slice_mut(self.elements.place(self.start, first), len)
                }),
                counts,
                displacements: self.offsets(first),
            };
        }
        let (displacements, len) = self.side_by_side();
        Room {
            data: Bytes::Packed(vec![0; len]),
            counts,
            displacements,
        }
    }

    /// Writes what is not in its place yet.
    ///
    /// # Safety
    ///
    /// As [`room`](Self::room), which has made `room`.
    pub(crate) unsafe fn write(&self, room: &Room) -> Result<(), Refused> {
        let Bytes::Packed(bytes) = &room.data else {
            return Ok(());
        };
        for (rank, &begin) in room.displacements.iter().enumerate() {
            let part = &bytes[begin..begin + room.counts[rank]];
            let Block { start, count, .. } = self.part(rank).within(part.len());
            // SAFETY: the caller's promise.
            unsafe { self.elements.unpack(part, start, count) }?;
        }
        Ok(())
    }
}
