//! The operations that synchronise and move data, each of which waits until it has ended.

use crate::arguments::{self, check_root};
use crate::member::{Member, call};
use crate::memory::to_write;
use crate::status::StatusCode;
use std::ffi::c_void;

/// Returns when every member has called it. What members wrote before is visible to all after.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_barrier(member: *mut Member) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let member = state.member();
            Ok(member.barrier()?)
        })
    }
}

/// Gives `root`'s `data` to every member. All give the same length.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `data` has `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_broadcast(
    member: *mut Member,
    root: usize,
    data: *mut c_void,
    bytes: usize,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let member = state.member();
            check_root(root, member.size())?;
            Ok(member.broadcast(root, to_write("data", data, bytes)?)?)
        })
    }
}

/// Gives each rank its part of `root`'s `send`: `bytes` bytes each, in rank order. Other ranks may
/// give NULL for `send`.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `recv` has `bytes` bytes, the root's `send` as many for each
/// rank.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_scatter(
    member: *mut Member,
    root: usize,
    send: *const c_void,
    recv: *mut c_void,
    bytes: usize,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let member = state.member();
            let place = (member.rank(), member.size());
            let (send, recv) = arguments::scatter(place, root, (send, recv, bytes))?;
            Ok(member.scatter(root, send, recv)?)
        })
    }
}

/// `corecast_scatter` of parts of any lengths: `counts[r]` elements from `displacements[r]` on for
/// each rank r, which `root` alone gives. Lengths are in elements of `element_bytes`; `recv` takes
/// `recv_count` of them.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `recv` has `recv_count` elements; the root's `counts` and
/// `displacements` have a number for each rank, and its `send` has all those parts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_scatterv(
    member: *mut Member,
    root: usize,
    send: *const c_void,
    counts: *const usize,
    displacements: *const usize,
    recv: *mut c_void,
    recv_count: usize,
    element_bytes: usize,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let (member, scratch) = state.with_scratch();
            let place = (member.rank(), member.size());
            let send = (send, (counts, displacements));
            let recv = (recv, recv_count);
            let (send, recv) =
                arguments::scatterv(place, root, send, recv, element_bytes, scratch)?;
            Ok(member.scatterv(root, send, recv)?)
        })
    }
}

/// Gives everybody's `send`, `bytes` bytes each, to `root`'s `recv`, side by side in rank order. Other
/// ranks may give NULL for `recv`.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `send` has `bytes` bytes, the root's `recv` as many for each
/// rank.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_gather(
    member: *mut Member,
    root: usize,
    send: *const c_void,
    recv: *mut c_void,
    bytes: usize,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let member = state.member();
            let place = (member.rank(), member.size());
            let (send, recv) = arguments::gather(place, root, (send, recv, bytes))?;
            Ok(member.gather(root, send, recv)?)
        })
    }
}

/// `corecast_gather` of parts of any lengths, for which `root` alone says where it wants them. Parts
/// may lie in any order, with gaps, but not one over the other.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `send` has `send_count` elements; the root's `counts` and
/// `displacements` have a number for each rank, and its `recv` has all those parts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_gatherv(
    member: *mut Member,
    root: usize,
    send: *const c_void,
    send_count: usize,
    recv: *mut c_void,
    counts: *const usize,
    displacements: *const usize,
    element_bytes: usize,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let (member, scratch) = state.with_scratch();
            let place = (member.rank(), member.size());
            let (send, recv) = ((send, send_count), (recv, (counts, displacements)));
            let (send, recv) = arguments::gatherv(place, root, send, recv, element_bytes, scratch)?;
            Ok(member.gatherv(root, send, recv)?)
        })
    }
}

/// Gives everybody's `send`, `bytes` bytes each, to everybody's `recv`, side by side in rank order.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `send` has `bytes` bytes, `recv` as many for each rank.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_allgather(
    member: *mut Member,
    send: *const c_void,
    recv: *mut c_void,
    bytes: usize,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let member = state.member();
            let place = (member.rank(), member.size());
            let (send, recv) = arguments::allgather(place, (send, recv, bytes))?;
            Ok(member.allgather(send, recv)?)
        })
    }
}

/// `corecast_allgather` of parts of any lengths. All members give the same counts; displacements are
/// each one's own.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `send` has `send_count` elements; `counts` and `displacements`
/// have a number for each rank, and `recv` has all those parts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_allgatherv(
    member: *mut Member,
    send: *const c_void,
    send_count: usize,
    recv: *mut c_void,
    counts: *const usize,
    displacements: *const usize,
    element_bytes: usize,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let (member, scratch) = state.with_scratch();
            let place = (member.rank(), member.size());
            let (send, recv) = ((send, send_count), (recv, (counts, displacements)));
            let (send, recv, parts) =
                arguments::allgatherv(place, send, recv, element_bytes, scratch)?;
            Ok(member.allgatherv(send, recv, parts)?)
        })
    }
}

/// Gives each rank its part of everybody's `send`: part r of `recv` is what rank r has sent. All parts
/// have `bytes` bytes.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `send` and `recv` have `bytes` bytes for each rank.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_alltoall(
    member: *mut Member,
    send: *const c_void,
    recv: *mut c_void,
    bytes: usize,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let member = state.member();
            let place = (member.rank(), member.size());
            let (send, recv) = arguments::alltoall(place, (send, recv, bytes))?;
            Ok(member.alltoall(send, recv)?)
        })
    }
}

/// `corecast_alltoall` of parts of any lengths: what rank a sends to rank b is as long as what b
/// takes from a.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; all counts and displacements have a number for each rank;
/// `send` and `recv` have all those parts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_alltoallv(
    member: *mut Member,
    send: *const c_void,
    send_counts: *const usize,
    send_displacements: *const usize,
    recv: *mut c_void,
    recv_counts: *const usize,
    recv_displacements: *const usize,
    element_bytes: usize,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        call(member, |state| {
            let (member, scratch) = state.with_scratch();
            let place = (member.rank(), member.size());
            let give = (send, (send_counts, send_displacements));
            let take = (recv, (recv_counts, recv_displacements));
            let (give, take) = arguments::alltoallv(place, give, take, element_bytes, scratch)?;
            Ok(member.alltoallv(give, take)?)
        })
    }
}
