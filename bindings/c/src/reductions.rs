//! The operations that combine data, each of which waits until it has ended.

use crate::arguments::{blocks, check_root, in_place, total};
use crate::elements::ElementCode;
use crate::member::{Member, call};
use crate::memory::{give, numbers};
use crate::operators::{Operator, combiner};
use crate::status::{Refusal, StatusCode, entry};
use corecast::block;
use std::ffi::c_void;

/// Says how `corecast_reduce_scatter` divides `count` elements among `size` ranks: where the block of
/// `rank` begins, and how many elements it has. Where the blocks cannot be equal, the first ones have
/// one more.
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
/// as it is. All give the same number of elements, the same type, and operators that do the same.
///
/// `element` is a type that a built-in operator knows, or `CORECAST_ELEMENT_OWN` for an operator of
/// `corecast_operator_new`. An operator that does not know the type is refused before the operation
/// begins. So it is with all operations that combine.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `data` has `count` elements; `operator` is NULL or a live
/// handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_reduce(
    member: *mut Member,
    root: usize,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: *const Operator,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let member = state.member();
            check_root(root, member.size())?;
            let by = combiner(operator, element)?;
            Ok(member.reduce_by(root, in_place(data, count, by)?, by.operator)?)
        })
    }
}

/// Combines the members' `data` element by element into everybody's. All get the same bits.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `data` has `count` elements; `operator` is NULL or a live
/// handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_allreduce(
    member: *mut Member,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: *const Operator,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let member = state.member();
            let by = combiner(operator, element)?;
            Ok(member.allreduce_by(in_place(data, count, by)?, by.operator)?)
        })
    }
}

/// Combines the members' `send`, `count` elements each, and gives each rank its block of the result
/// in `recv`: `corecast_block` says which.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `send` has `count` elements, `recv` as many as the block of
/// this rank; `operator` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_reduce_scatter(
    member: *mut Member,
    send: *const c_void,
    count: usize,
    recv: *mut c_void,
    element: ElementCode,
    operator: *const Operator,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let member = state.member();
            let by = combiner(operator, element)?;
            let own_block = block(count, 1, member.size(), member.rank()).len();
            let (send, recv) = blocks((send, count), (recv, own_block), by)?;
            Ok(member.reduce_scatter_by(send, recv, by.operator)?)
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
/// as all of them, `recv` as many as this rank's; `operator` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_reduce_scatterv(
    member: *mut Member,
    send: *const c_void,
    counts: *const usize,
    recv: *mut c_void,
    element: ElementCode,
    operator: *const Operator,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let member = state.member();
            let by = combiner(operator, element)?;
            let counts = numbers("counts", counts, member.size())?;
            let own_block = counts[member.rank()];
            let (send, recv) = blocks((send, total(counts)?), (recv, own_block), by)?;
            Ok(member.reduce_scatterv_by(send, counts, recv, by.operator)?)
        })
    }
}

/// Combines the `data` of all ranks up to this one into this one's.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `data` has `count` elements; `operator` is NULL or a live
/// handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_scan(
    member: *mut Member,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: *const Operator,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let member = state.member();
            let by = combiner(operator, element)?;
            Ok(member.scan_by(in_place(data, count, by)?, by.operator)?)
        })
    }
}

/// Combines the `data` of all ranks before this one into this one's. That of rank 0 stays as it is.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `data` has `count` elements; `operator` is NULL or a live
/// handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_exscan(
    member: *mut Member,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: *const Operator,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let member = state.member();
            let by = combiner(operator, element)?;
            Ok(member.exscan_by(in_place(data, count, by)?, by.operator)?)
        })
    }
}
