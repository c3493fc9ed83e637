//! Checks the arguments of an operation and makes slices of them, before the operation begins. Operations
//! that wait and operations in flight share these functions.
//!
//! **The contract of every unsafe function here:** the pointers are what `corecast.h` says of the operation,
//! and nothing else uses the memory behind them for as long as `'a`.

use crate::memory::{aligned, apart, length, numbers, to_read, to_write};
use crate::operators::Combiner;
use crate::status::Refusal;
use corecast::Parts;
use std::ffi::c_void;

/// A rank, and the number of ranks.
pub(crate) type Position = (usize, usize);

/// Refuses a root that is no rank of the team.
#[inline]
pub(crate) fn check_root(root: usize, size: usize) -> Result<(), Refusal> {
    match root < size {
        true => Ok(()),
        false => Err(Refusal::invalid(format!(
            "root {root} is outside of a team of {size}"
        ))),
    }
}

/// The parts of a buffer as C gives them: counts and displacements in elements.
#[derive(Clone, Copy)]
struct PartsInElements<'a> {
    name: &'static str,
    counts: &'a [usize],
    displacements: &'a [usize],
    element_bytes: usize,
}

impl<'a> PartsInElements<'a> {
    /// # Safety
    ///
    /// Both pointers have a number for each of `size` ranks.
    unsafe fn of(
        name: &'static str,
        (counts, displacements): (*const usize, *const usize),
        size: usize,
        element_bytes: usize,
    ) -> Result<Self, Refusal> {
        if element_bytes == 0 {
            return Err(Refusal::invalid(
                "`element_bytes` is 0: give an element's length",
            ));
        }
        // SAFETY: the caller's promise.
        unsafe {
            Ok(Self {
                name,
                counts: numbers("counts", counts, size)?,
                displacements: numbers("displacements", displacements, size)?,
                element_bytes,
            })
        }
    }

    /// Appends the counts and then the displacements, in bytes, to `room`. Returns the number of bytes that
    /// the buffer must have.
    fn scale(self, room: &mut Vec<usize>) -> Result<usize, Refusal> {
        let mut end = 0;
        let before = room.len();
        for part in [self.counts, self.displacements] {
            for &elements in part {
                room.push(length(self.name, elements, self.element_bytes)?);
            }
        }
        let (counts, displacements) = room[before..].split_at_mut(self.counts.len());
        for (rank, (&mut count, start)) in counts.iter_mut().zip(displacements).enumerate() {
            if count == 0 {
                // An empty part may be given any displacement.
                *start = 0;
                continue;
            }
            let last = start.checked_add(count).ok_or_else(|| {
                Refusal::invalid(format!(
                    "the part of rank {rank} in `{}`, {} elements from {} on, ends behind all memory",
                    self.name, self.counts[rank], self.displacements[rank]
                ))
            })?;
            end = end.max(last);
        }
        Ok(end)
    }

    /// Refuses parts of which two overlap, for a buffer that is written to.
    fn check_apart(self) -> Result<(), Refusal> {
        let n = self.counts.len();
        let part = |rank: usize| {
            let start = self.displacements[rank];
            start..start.saturating_add(self.counts[rank])
        };
        let in_order = |ranks: &[usize]| part(ranks[0]).end <= part(ranks[1]).start;
        let filled = (0..n).filter(|&rank| self.counts[rank] > 0);
        let mut last = None;
        if filled.clone().all(|rank| {
            let ok = last.is_none_or(|last| in_order(&[last, rank]));
            last = Some(rank);
            ok
        }) {
            return Ok(());
        }
        let mut ranks: Vec<usize> = filled.collect();
        ranks.sort_by_key(|&rank| self.displacements[rank]);
        match ranks.windows(2).find(|pair| !in_order(pair)) {
            None => Ok(()),
            Some(pair) => Err(Refusal::invalid(format!(
                "the parts of ranks {} (elements {:?}) and {} ({:?}) of `{}` overlap",
                pair[0],
                part(pair[0]),
                pair[1],
                part(pair[1]),
                self.name
            ))),
        }
    }

    /// Refuses a buffer of `count` elements that is not as long as the part of `rank`.
    fn check_own(self, name: &str, count: usize, rank: usize) -> Result<(), Refusal> {
        match self.counts[rank] == count {
            true => Ok(()),
            false => Err(Refusal::invalid(format!(
                "this rank's `{name}` has {count} elements, its part of `{}` {}",
                self.name, self.counts[rank]
            ))),
        }
    }
}

/// The parts whose counts and displacements [`PartsInElements::scale`] has written.
fn parts(scaled: &[usize]) -> Parts<'_> {
    let (counts, displacements) = scaled.split_at(scaled.len() / 2);
    Parts::new(counts, displacements)
}

/// The buffers of a scatter: `send` at the root, and `recv`.
///
/// # Safety
///
/// That of the module.
#[inline]
pub(crate) unsafe fn scatter<'a>(
    (rank, size): Position,
    root: usize,
    (send, recv, bytes): (*const c_void, *mut c_void, usize),
) -> Result<(Option<&'a [u8]>, &'a mut [u8]), Refusal> {
    check_root(root, size)?;
    // SAFETY: the module's contract, here and below.
    unsafe {
        let send = match rank == root {
            true => {
                let all = length("send", size, bytes)?;
                apart((send, all), (recv, bytes))?;
                Some(to_read("send", send, all)?)
            }
            false => None,
        };
        Ok((send, to_write("recv", recv, bytes)?))
    }
}

/// The data that the root sends: the whole buffer, and its parts.
type Whole<'a> = Option<(&'a [u8], Parts<'a>)>;
/// The place where the root receives: the whole buffer, and its parts.
type WholeMut<'a> = Option<(&'a mut [u8], Parts<'a>)>;

/// The buffers of a scatter of parts of any lengths, which are scaled in `room`.
///
/// # Safety
///
/// That of the module.
pub(crate) unsafe fn scatterv<'a>(
    (rank, size): Position,
    root: usize,
    (send, at): (*const c_void, (*const usize, *const usize)),
    (recv, recv_count): (*mut c_void, usize),
    element_bytes: usize,
    room: &'a mut Vec<usize>,
) -> Result<(Whole<'a>, &'a mut [u8]), Refusal> {
    check_root(root, size)?;
    let own = length("recv", recv_count, element_bytes)?;
    // SAFETY: as in `scatter`.
    unsafe {
        let send = match rank == root {
            true => {
                let given = PartsInElements::of("send", at, size, element_bytes)?;
                given.check_own("recv", recv_count, root)?;
                room.clear();
                let all = given.scale(room)?;
                apart((send, all), (recv, own))?;
                Some((to_read("send", send, all)?, parts(room)))
            }
            false => None,
        };
        Ok((send, to_write("recv", recv, own)?))
    }
}

/// The buffers of a gather: `send`, and `recv` at the root.
///
/// # Safety
///
/// That of the module.
#[inline]
pub(crate) unsafe fn gather<'a>(
    (rank, size): Position,
    root: usize,
    (send, recv, bytes): (*const c_void, *mut c_void, usize),
) -> Result<(&'a [u8], Option<&'a mut [u8]>), Refusal> {
    check_root(root, size)?;
    // SAFETY: as in `scatter`.
    unsafe {
        let recv = match rank == root {
            true => {
                let all = length("recv", size, bytes)?;
                apart((send, bytes), (recv, all))?;
                Some(to_write("recv", recv, all)?)
            }
            false => None,
        };
        Ok((to_read("send", send, bytes)?, recv))
    }
}

/// The buffers of a gather of parts of any lengths.
///
/// # Safety
///
/// That of the module.
pub(crate) unsafe fn gatherv<'a>(
    (rank, size): Position,
    root: usize,
    (send, send_count): (*const c_void, usize),
    (recv, at): (*mut c_void, (*const usize, *const usize)),
    element_bytes: usize,
    room: &'a mut Vec<usize>,
) -> Result<(&'a [u8], WholeMut<'a>), Refusal> {
    check_root(root, size)?;
    let own = length("send", send_count, element_bytes)?;
    // SAFETY: as in `scatter`.
    unsafe {
        let recv = match rank == root {
            true => {
                let given = PartsInElements::of("recv", at, size, element_bytes)?;
                given.check_own("send", send_count, root)?;
                room.clear();
                let all = given.scale(room)?;
                given.check_apart()?;
                apart((send, own), (recv, all))?;
                Some((to_write("recv", recv, all)?, parts(room)))
            }
            false => None,
        };
        Ok((to_read("send", send, own)?, recv))
    }
}

/// The buffers of an allgather.
///
/// # Safety
///
/// That of the module.
#[inline]
pub(crate) unsafe fn allgather<'a>(
    (_, size): Position,
    (send, recv, bytes): (*const c_void, *mut c_void, usize),
) -> Result<(&'a [u8], &'a mut [u8]), Refusal> {
    let all = length("recv", size, bytes)?;
    apart((send, bytes), (recv, all))?;
    // SAFETY: as in `scatter`.
    unsafe { Ok((to_read("send", send, bytes)?, to_write("recv", recv, all)?)) }
}

/// The buffers of an allgather of parts of any lengths.
///
/// # Safety
///
/// That of the module.
pub(crate) unsafe fn allgatherv<'a>(
    (rank, size): Position,
    (send, send_count): (*const c_void, usize),
    (recv, at): (*mut c_void, (*const usize, *const usize)),
    element_bytes: usize,
    room: &'a mut Vec<usize>,
) -> Result<(&'a [u8], &'a mut [u8], Parts<'a>), Refusal> {
    let own = length("send", send_count, element_bytes)?;
    // SAFETY: as in `scatter`.
    unsafe {
        let given = PartsInElements::of("recv", at, size, element_bytes)?;
        given.check_own("send", send_count, rank)?;
        room.clear();
        let all = given.scale(room)?;
        given.check_apart()?;
        apart((send, own), (recv, all))?;
        let recv = to_write("recv", recv, all)?;
        Ok((to_read("send", send, own)?, recv, parts(room)))
    }
}

/// The buffers of an alltoall.
///
/// # Safety
///
/// That of the module.
#[inline]
pub(crate) unsafe fn alltoall<'a>(
    (_, size): Position,
    (send, recv, bytes): (*const c_void, *mut c_void, usize),
) -> Result<(&'a [u8], &'a mut [u8]), Refusal> {
    let all = length("send", size, bytes)?;
    apart((send, all), (recv, all))?;
    // SAFETY: as in `scatter`.
    unsafe { Ok((to_read("send", send, all)?, to_write("recv", recv, all)?)) }
}

/// The buffer to send and its parts, and the buffer to receive into and its parts.
type Exchange<'a> = ((&'a [u8], Parts<'a>), (&'a mut [u8], Parts<'a>));

/// The buffers of an alltoall of parts of any lengths.
///
/// # Safety
///
/// That of the module.
pub(crate) unsafe fn alltoallv<'a>(
    (rank, size): Position,
    (send, give): (*const c_void, (*const usize, *const usize)),
    (recv, take): (*mut c_void, (*const usize, *const usize)),
    element_bytes: usize,
    room: &'a mut Vec<usize>,
) -> Result<Exchange<'a>, Refusal> {
    // SAFETY: as in `scatter`.
    unsafe {
        let give = PartsInElements::of("send", give, size, element_bytes)?;
        let take = PartsInElements::of("recv", take, size, element_bytes)?;
        take.check_own("send", give.counts[rank], rank)?;
        take.check_apart()?;
        room.clear();
        let sent = give.scale(room)?;
        let received = take.scale(room)?;
        apart((send, sent), (recv, received))?;
        let send = to_read("send", send, sent)?;
        let recv = to_write("recv", recv, received)?;
        let (give, take) = room.split_at(2 * size);
        Ok(((send, parts(give)), (recv, parts(take))))
    }
}

/// Data that a reduction changes in place: `count` elements.
///
/// # Safety
///
/// That of the module.
#[inline]
pub(crate) unsafe fn in_place<'a>(
    data: *mut c_void,
    count: usize,
    by: Combiner<'_>,
) -> Result<&'a mut [u8], Refusal> {
    aligned("data", data, by.align)?;
    let bytes = length("data", count, by.operator.element_size())?;
    // SAFETY: as in `scatter`.
    unsafe { to_write("data", data, bytes) }
}

/// The buffers of a reduction that gives each rank a block: `send` of `count` elements, and `recv` of
/// `block`.
///
/// # Safety
///
/// That of the module.
#[inline]
pub(crate) unsafe fn blocks<'a>(
    (send, count): (*const c_void, usize),
    (recv, block): (*mut c_void, usize),
    by: Combiner<'_>,
) -> Result<(&'a [u8], &'a mut [u8]), Refusal> {
    aligned("send", send, by.align)?;
    aligned("recv", recv, by.align)?;
    let sent = length("send", count, by.operator.element_size())?;
    let received = length("recv", block, by.operator.element_size())?;
    apart((send, sent), (recv, received))?;
    // SAFETY: as in `scatter`; they do not overlap.
    unsafe {
        Ok((
            to_read("send", send, sent)?,
            to_write("recv", recv, received)?,
        ))
    }
}

/// The number of elements of all blocks together.
pub(crate) fn total(counts: &[usize]) -> Result<usize, Refusal> {
    let sum = |sum: usize, &count: &usize| sum.checked_add(count);
    let all = counts.iter().try_fold(0, sum);
    all.ok_or_else(|| Refusal::invalid(format!("blocks of {counts:?}: more than there can be")))
}
