//! The operations of `moves.rs`, started without waiting for them.

use super::overlap::{Flight, Request, start};
use crate::arguments::{self, check_root};
use crate::memory::to_write;
use crate::status::StatusCode;
use std::ffi::c_void;

/// Starts `corecast_barrier`: this is the arrival, `corecast_request_wait` the departure.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_barrier(
    flight: *const Flight,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            Ok(flight.operations().barrier()?)
        })
    }
}

/// Starts `corecast_broadcast`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
/// has `bytes` bytes, until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_broadcast(
    flight: *const Flight,
    root: usize,
    data: *mut c_void,
    bytes: usize,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            check_root(root, flight.size())?;
            Ok(flight
                .operations()
                .broadcast(root, to_write("data", data, bytes)?)?)
        })
    }
}

/// Starts `corecast_scatter`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `recv`
/// has `bytes` bytes, the root's `send` as many for each rank, until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_scatter(
    flight: *const Flight,
    root: usize,
    send: *const c_void,
    recv: *mut c_void,
    bytes: usize,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let (send, recv) = arguments::scatter(flight.position(), root, (send, recv, bytes))?;
            Ok(flight.operations().scatter(root, send, recv)?)
        })
    }
}

/// Starts `corecast_scatterv`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `recv`
/// has `recv_count` elements; the root's `counts` and `displacements` have a number for each rank,
/// and its `send` has all those parts, until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_scatterv(
    flight: *const Flight,
    root: usize,
    send: *const c_void,
    counts: *const usize,
    displacements: *const usize,
    recv: *mut c_void,
    recv_count: usize,
    element_bytes: usize,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let send = (send, (counts, displacements));
            let recv = (recv, recv_count);
            let (send, recv) = arguments::scatterv(
                flight.position(),
                root,
                send,
                recv,
                element_bytes,
                flight.room(),
            )?;
            Ok(flight.operations().scatterv(root, send, recv)?)
        })
    }
}

/// Starts `corecast_gather`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
/// has `bytes` bytes, the root's `recv` as many for each rank, until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_gather(
    flight: *const Flight,
    root: usize,
    send: *const c_void,
    recv: *mut c_void,
    bytes: usize,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let (send, recv) = arguments::gather(flight.position(), root, (send, recv, bytes))?;
            Ok(flight.operations().gather(root, send, recv)?)
        })
    }
}

/// Starts `corecast_gatherv`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
/// has `send_count` elements; the root's `counts` and `displacements` have a number for each rank,
/// and its `recv` has all those parts, until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_gatherv(
    flight: *const Flight,
    root: usize,
    send: *const c_void,
    send_count: usize,
    recv: *mut c_void,
    counts: *const usize,
    displacements: *const usize,
    element_bytes: usize,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let (send, recv) = ((send, send_count), (recv, (counts, displacements)));
            let (send, recv) = arguments::gatherv(
                flight.position(),
                root,
                send,
                recv,
                element_bytes,
                flight.room(),
            )?;
            Ok(flight.operations().gatherv(root, send, recv)?)
        })
    }
}

/// Starts `corecast_allgather`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
/// has `bytes` bytes, `recv` as many for each rank, until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_allgather(
    flight: *const Flight,
    send: *const c_void,
    recv: *mut c_void,
    bytes: usize,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let (send, recv) = arguments::allgather(flight.position(), (send, recv, bytes))?;
            Ok(flight.operations().allgather(send, recv)?)
        })
    }
}

/// Starts `corecast_allgatherv`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
/// has `send_count` elements; `counts` and `displacements` have a number for each rank, and `recv`
/// has all those parts, until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_allgatherv(
    flight: *const Flight,
    send: *const c_void,
    send_count: usize,
    recv: *mut c_void,
    counts: *const usize,
    displacements: *const usize,
    element_bytes: usize,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let (send, recv) = ((send, send_count), (recv, (counts, displacements)));
            let (send, recv, parts) =
                arguments::allgatherv(flight.position(), send, recv, element_bytes, flight.room())?;
            Ok(flight.operations().allgatherv(send, recv, parts)?)
        })
    }
}

/// Starts `corecast_alltoall`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
/// and `recv` have `bytes` bytes for each rank, until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_alltoall(
    flight: *const Flight,
    send: *const c_void,
    recv: *mut c_void,
    bytes: usize,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let (send, recv) = arguments::alltoall(flight.position(), (send, recv, bytes))?;
            Ok(flight.operations().alltoall(send, recv)?)
        })
    }
}

/// Starts `corecast_alltoallv`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; all
/// counts and displacements have a number for each rank; `send` and `recv` have all those parts,
/// until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_alltoallv(
    flight: *const Flight,
    send: *const c_void,
    send_counts: *const usize,
    send_displacements: *const usize,
    recv: *mut c_void,
    recv_counts: *const usize,
    recv_displacements: *const usize,
    element_bytes: usize,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let give = (send, (send_counts, send_displacements));
            let take = (recv, (recv_counts, recv_displacements));
            let (give, take) =
                arguments::alltoallv(flight.position(), give, take, element_bytes, flight.room())?;
            Ok(flight.operations().alltoallv(give, take)?)
        })
    }
}
