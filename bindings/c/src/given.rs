//! What operations are given: checked before they begin, for calls that wait and for operations in flight
//! alike.
//!
//! Whoever calls these functions promises that the pointers are what `corecast.h` says of the operation,
//! and that nobody else uses what they lead to for as long as `'a`.

use crate::memory::{apart, length, numbers, to_read, to_write};
use crate::status::Refusal;
use corecast::Parts;
use std::ffi::c_void;

/// A rank, and the number of ranks.
pub(crate) type Seat = (usize, usize);

/// Refuses a root that there is not.
#[inline]
pub(crate) fn check_root(root: usize, size: usize) -> Result<(), Refusal> {
    match root < size {
        true => Ok(()),
        false => Err(Refusal::invalid(format!(
            "root {root} is outside of a team of {size}"
        ))),
    }
}

/// Parts of a buffer, from elements to bytes.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) name: &'static str,
    pub(crate) counts: &'a [usize],
    pub(crate) displacements: &'a [usize],
    pub(crate) each: usize,
}

impl<'a> Given<'a> {
    /// # Safety
    ///
    /// Both pointers have a number for each of `size` ranks.
    pub(crate) unsafe fn of(
        name: &'static str,
        (counts, displacements): (*const usize, *const usize),
        size: usize,
        each: usize,
    ) -> Result<Self, Refusal> {
        if each == 0 {
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
                each,
            })
        }
    }

    /// Bytes that the buffer must have, with counts and displacements in bytes behind what is in
    /// `room`.
    pub(crate) fn scale(self, room: &mut Vec<usize>) -> Result<usize, Refusal> {
        let mut end = 0;
        let before = room.len();
        for part in [self.counts, self.displacements] {
            for &elements in part {
                room.push(length(self.name, elements, self.each)?);
            }
        }
        let (counts, displacements) = room[before..].split_at_mut(self.counts.len());
        for (rank, (&mut count, start)) in counts.iter_mut().zip(displacements).enumerate() {
            if count == 0 {
                // Where nothing lies does not matter.
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

    /// Refuses parts of which two overlap, in a buffer that is written.
    pub(crate) fn check_apart(self) -> Result<(), Refusal> {
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

    /// Refuses another length than that of a rank's own part.
    pub(crate) fn check_own(self, name: &str, count: usize, rank: usize) -> Result<(), Refusal> {
        match self.counts[rank] == count {
            true => Ok(()),
            false => Err(Refusal::invalid(format!(
                "this rank's `{name}` has {count} elements, its part of `{}` {}",
                self.name, self.counts[rank]
            ))),
        }
    }
}

/// Parts as they were scaled.
pub(crate) fn parts(scaled: &[usize]) -> Parts<'_> {
    let (counts, displacements) = scaled.split_at(scaled.len() / 2);
    Parts::new(counts, displacements)
}

/// # Safety
///
/// See the module.
#[inline]
pub(crate) unsafe fn scatter<'a>(
    (rank, size): Seat,
    root: usize,
    (send, recv, bytes): (*const c_void, *mut c_void, usize),
) -> Result<(Option<&'a [u8]>, &'a mut [u8]), Refusal> {
    check_root(root, size)?;
    // SAFETY: the module's promise, here and below.
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

/// What the root scatters: all of it, and the parts.
type Whole<'a> = Option<(&'a [u8], Parts<'a>)>;
/// Where the root gathers.
type Place<'a> = Option<(&'a mut [u8], Parts<'a>)>;

/// # Safety
///
/// See the module.
pub(crate) unsafe fn scatterv<'a>(
    (rank, size): Seat,
    root: usize,
    (send, at): (*const c_void, (*const usize, *const usize)),
    (recv, recv_count): (*mut c_void, usize),
    each: usize,
    room: &'a mut Vec<usize>,
) -> Result<(Whole<'a>, &'a mut [u8]), Refusal> {
    check_root(root, size)?;
    let own = length("recv", recv_count, each)?;
    // SAFETY: as in `scatter`.
    unsafe {
        let send = match rank == root {
            true => {
                let given = Given::of("send", at, size, each)?;
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

/// # Safety
///
/// See the module.
#[inline]
pub(crate) unsafe fn gather<'a>(
    (rank, size): Seat,
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

/// # Safety
///
/// See the module.
pub(crate) unsafe fn gatherv<'a>(
    (rank, size): Seat,
    root: usize,
    (send, send_count): (*const c_void, usize),
    (recv, at): (*mut c_void, (*const usize, *const usize)),
    each: usize,
    room: &'a mut Vec<usize>,
) -> Result<(&'a [u8], Place<'a>), Refusal> {
    check_root(root, size)?;
    let own = length("send", send_count, each)?;
    // SAFETY: as in `scatter`.
    unsafe {
        let recv = match rank == root {
            true => {
                let given = Given::of("recv", at, size, each)?;
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

/// # Safety
///
/// See the module.
#[inline]
pub(crate) unsafe fn allgather<'a>(
    (_, size): Seat,
    (send, recv, bytes): (*const c_void, *mut c_void, usize),
) -> Result<(&'a [u8], &'a mut [u8]), Refusal> {
    let all = length("recv", size, bytes)?;
    apart((send, bytes), (recv, all))?;
    // SAFETY: as in `scatter`.
    unsafe { Ok((to_read("send", send, bytes)?, to_write("recv", recv, all)?)) }
}

/// # Safety
///
/// See the module.
pub(crate) unsafe fn allgatherv<'a>(
    (rank, size): Seat,
    (send, send_count): (*const c_void, usize),
    (recv, at): (*mut c_void, (*const usize, *const usize)),
    each: usize,
    room: &'a mut Vec<usize>,
) -> Result<(&'a [u8], &'a mut [u8], Parts<'a>), Refusal> {
    let own = length("send", send_count, each)?;
    // SAFETY: as in `scatter`.
    unsafe {
        let given = Given::of("recv", at, size, each)?;
        given.check_own("send", send_count, rank)?;
        room.clear();
        let all = given.scale(room)?;
        given.check_apart()?;
        apart((send, own), (recv, all))?;
        let recv = to_write("recv", recv, all)?;
        Ok((to_read("send", send, own)?, recv, parts(room)))
    }
}

/// # Safety
///
/// See the module.
#[inline]
pub(crate) unsafe fn alltoall<'a>(
    (_, size): Seat,
    (send, recv, bytes): (*const c_void, *mut c_void, usize),
) -> Result<(&'a [u8], &'a mut [u8]), Refusal> {
    let all = length("send", size, bytes)?;
    apart((send, all), (recv, all))?;
    // SAFETY: as in `scatter`.
    unsafe { Ok((to_read("send", send, all)?, to_write("recv", recv, all)?)) }
}

/// What goes, and where it is put.
type Exchange<'a> = ((&'a [u8], Parts<'a>), (&'a mut [u8], Parts<'a>));

/// # Safety
///
/// See the module.
pub(crate) unsafe fn alltoallv<'a>(
    (rank, size): Seat,
    (send, give): (*const c_void, (*const usize, *const usize)),
    (recv, take): (*mut c_void, (*const usize, *const usize)),
    each: usize,
    room: &'a mut Vec<usize>,
) -> Result<Exchange<'a>, Refusal> {
    // SAFETY: as in `scatter`.
    unsafe {
        let give = Given::of("send", give, size, each)?;
        let take = Given::of("recv", take, size, each)?;
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
