//! Operations that combine data.

use crate::given::check_root;
use crate::member::{Member, call};
use crate::memory::{aligned, apart, give, length, numbers, to_read, to_write};
use crate::names::{ElementCode, OperatorCode, combine};
use crate::own::{Own, OwnOperator};
use crate::status::{Refusal, StatusCode, entry};
use corecast::{Combine, block};
use std::ffi::c_void;

/// An operator, and how its elements are aligned.
pub(crate) type With<'a> = (&'a dyn Combine, usize);

/// The built-in operator of these numbers.
pub(crate) fn named(
    operator: OperatorCode,
    element: ElementCode,
) -> Result<With<'static>, Refusal> {
    combine(operator, element).map(|(combine, align)| (combine as &dyn Combine, align))
}

/// Data that are combined in place.
///
/// # Safety
///
/// `data` has `count` elements that nobody else uses meanwhile.
pub(crate) unsafe fn in_place<'a>(
    data: *mut c_void,
    count: usize,
    (combine, align): With<'_>,
) -> Result<&'a mut [u8], Refusal> {
    aligned("data", data, align)?;
    let bytes = length("data", count, combine.grain())?;
    // SAFETY: the caller's promise.
    unsafe { to_write("data", data, bytes) }
}

/// Data of which a block comes back combined: `send` of `count` elements, and `recv` of `block`.
///
/// # Safety
///
/// Both have as many elements, which nobody else uses meanwhile.
pub(crate) unsafe fn blocks<'a>(
    (send, count): (*const c_void, usize),
    (recv, block): (*mut c_void, usize),
    (combine, align): With<'_>,
) -> Result<(&'a [u8], &'a mut [u8]), Refusal> {
    aligned("send", send, align)?;
    aligned("recv", recv, align)?;
    let sent = length("send", count, combine.grain())?;
    let received = length("recv", block, combine.grain())?;
    apart((send, sent), (recv, received))?;
    // SAFETY: the caller's promise; they do not overlap.
    unsafe {
        Ok((
            to_read("send", send, sent)?,
            to_write("recv", recv, received)?,
        ))
    }
}

/// How many elements all blocks have.
pub(crate) fn total(counts: &[usize]) -> Result<usize, Refusal> {
    let sum = |sum: usize, &count: &usize| sum.checked_add(count);
    let all = counts.iter().try_fold(0, sum);
    all.ok_or_else(|| Refusal::invalid(format!("blocks of {counts:?}: more than there can be")))
}

/// Where the block of `rank` begins among `count` elements that are divided among `size` ranks, and
/// how many it has: as `corecast_reduce_scatter` divides them. The first ones have one more where they
/// cannot be equal.
///
/// Threads: any.
///
/// # Safety
///
/// `begin` and `length` are NULL or places for numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_block(
    count: usize,
    size: usize,
    rank: usize,
    begin: *mut usize,
    length: *mut usize,
) -> StatusCode {
    entry(|| {
        if rank >= size {
            return Err(Refusal::invalid(format!(
                "rank {rank} is outside of a team of {size}"
            )));
        }
        let block = block(count, 1, size, rank);
        // SAFETY: the caller's promise.
        unsafe {
            give("begin", begin, block.start)?;
            give("length", length, block.len())
        }
    })
}

/// Combines the members' `data` element by element into that of `root`; on other ranks `data` stays
/// as it is. All give the same number of elements, the same type and the same operator.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `data` has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_reduce(
    member: *mut Member,
    root: usize,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: OperatorCode,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |hand| {
            let member = hand.member()?;
            check_root(root, member.size())?;
            let with = named(operator, element)?;
            Ok(member.reduce_by(root, in_place(data, count, with)?, with.0)?)
        })
    }
}

/// `corecast_reduce` by an operator of one's own.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `data` has `count` elements. `operator` is NULL or an
/// operator that keeps to its contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_reduce_with(
    member: *mut Member,
    root: usize,
    data: *mut c_void,
    count: usize,
    operator: *const OwnOperator,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |hand| {
            let member = hand.member()?;
            check_root(root, member.size())?;
            let own = Own::of(operator)?;
            let with: With<'_> = (&own, 1);
            Ok(member.reduce_by(root, in_place(data, count, with)?, with.0)?)
        })
    }
}

/// Combines the members' `data` element by element into everybody's: the same bits for all.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `data` has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_allreduce(
    member: *mut Member,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: OperatorCode,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |hand| {
            let member = hand.member()?;
            let with = named(operator, element)?;
            Ok(member.allreduce_by(in_place(data, count, with)?, with.0)?)
        })
    }
}

/// `corecast_allreduce` by an operator of one's own.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `data` has `count` elements. `operator` is NULL or an
/// operator that keeps to its contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_allreduce_with(
    member: *mut Member,
    data: *mut c_void,
    count: usize,
    operator: *const OwnOperator,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |hand| {
            let member = hand.member()?;
            let own = Own::of(operator)?;
            let with: With<'_> = (&own, 1);
            Ok(member.allreduce_by(in_place(data, count, with)?, with.0)?)
        })
    }
}

/// Combines the members' `send`, `count` elements each, and gives each rank its block of the result
/// in `recv`: see `corecast_block`.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `send` has `count` elements, `recv` as many as the block of
/// this rank.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_reduce_scatter(
    member: *mut Member,
    send: *const c_void,
    count: usize,
    recv: *mut c_void,
    element: ElementCode,
    operator: OperatorCode,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |hand| {
            let member = hand.member()?;
            let with = named(operator, element)?;
            let own_block = block(count, 1, member.size(), member.rank()).len();
            let (send, recv) = blocks((send, count), (recv, own_block), with)?;
            Ok(member.reduce_scatter_by(send, recv, with.0)?)
        })
    }
}

/// `corecast_reduce_scatter` by an operator of one's own.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `send` has `count` elements, `recv` as many as the block of
/// this rank. `operator` is NULL or an operator that keeps to its contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_reduce_scatter_with(
    member: *mut Member,
    send: *const c_void,
    count: usize,
    recv: *mut c_void,
    operator: *const OwnOperator,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |hand| {
            let member = hand.member()?;
            let own = Own::of(operator)?;
            let with: With<'_> = (&own, 1);
            let own_block = block(count, 1, member.size(), member.rank()).len();
            let (send, recv) = blocks((send, count), (recv, own_block), with)?;
            Ok(member.reduce_scatter_by(send, recv, with.0)?)
        })
    }
}

/// `corecast_reduce_scatter` in blocks of any lengths, one after another in rank order: `counts[r]`
/// elements for each rank r. All give the same counts.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `counts` has a number for each rank, `send` as many elements
/// as all of them, `recv` as many as this rank's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_reduce_scatterv(
    member: *mut Member,
    send: *const c_void,
    counts: *const usize,
    recv: *mut c_void,
    element: ElementCode,
    operator: OperatorCode,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |hand| {
            let member = hand.member()?;
            let with = named(operator, element)?;
            let counts = numbers("counts", counts, member.size())?;
            let own_block = counts[member.rank()];
            let (send, recv) = blocks((send, total(counts)?), (recv, own_block), with)?;
            Ok(member.reduce_scatterv_by(send, counts, recv, with.0)?)
        })
    }
}

/// `corecast_reduce_scatterv` by an operator of one's own.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `counts` has a number for each rank, `send` as many elements
/// as all of them, `recv` as many as this rank's. `operator` is NULL or an operator that keeps to
/// its contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_reduce_scatterv_with(
    member: *mut Member,
    send: *const c_void,
    counts: *const usize,
    recv: *mut c_void,
    operator: *const OwnOperator,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |hand| {
            let member = hand.member()?;
            let own = Own::of(operator)?;
            let with: With<'_> = (&own, 1);
            let counts = numbers("counts", counts, member.size())?;
            let own_block = counts[member.rank()];
            let (send, recv) = blocks((send, total(counts)?), (recv, own_block), with)?;
            Ok(member.reduce_scatterv_by(send, counts, recv, with.0)?)
        })
    }
}

/// Combines the `data` of all ranks up to this one into this one's.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `data` has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_scan(
    member: *mut Member,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: OperatorCode,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |hand| {
            let member = hand.member()?;
            let with = named(operator, element)?;
            Ok(member.scan_by(in_place(data, count, with)?, with.0)?)
        })
    }
}

/// `corecast_scan` by an operator of one's own.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `data` has `count` elements. `operator` is NULL or an
/// operator that keeps to its contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_scan_with(
    member: *mut Member,
    data: *mut c_void,
    count: usize,
    operator: *const OwnOperator,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |hand| {
            let member = hand.member()?;
            let own = Own::of(operator)?;
            let with: With<'_> = (&own, 1);
            Ok(member.scan_by(in_place(data, count, with)?, with.0)?)
        })
    }
}

/// Combines the `data` of all ranks before this one into this one's. That of rank 0 stays as it is.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `data` has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_exscan(
    member: *mut Member,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: OperatorCode,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |hand| {
            let member = hand.member()?;
            let with = named(operator, element)?;
            Ok(member.exscan_by(in_place(data, count, with)?, with.0)?)
        })
    }
}

/// `corecast_exscan` by an operator of one's own.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `data` has `count` elements. `operator` is NULL or an
/// operator that keeps to its contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_exscan_with(
    member: *mut Member,
    data: *mut c_void,
    count: usize,
    operator: *const OwnOperator,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |hand| {
            let member = hand.member()?;
            let own = Own::of(operator)?;
            let with: With<'_> = (&own, 1);
            Ok(member.exscan_by(in_place(data, count, with)?, with.0)?)
        })
    }
}
