//! The operations of `reductions.rs`, started without waiting for them.

use super::overlap::{Flight, Request, start};
use crate::arguments::{blocks, check_root, in_place, total};
use crate::elements::ElementCode;
use crate::operators::Operator;
use crate::status::StatusCode;
use corecast::block;
use std::ffi::c_void;

/// Starts `corecast_reduce`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
/// has `count` elements, until the operation has ended; `operator` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_reduce(
    flight: *const Flight,
    root: usize,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: *const Operator,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            check_root(root, flight.size())?;
            let by = flight.combiner(operator, element)?;
            let data = in_place(data, count, by)?;
            Ok(flight.operations().reduce_by(root, data, by.operator)?)
        })
    }
}

/// Starts `corecast_allreduce`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
/// has `count` elements, until the operation has ended; `operator` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_allreduce(
    flight: *const Flight,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: *const Operator,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let by = flight.combiner(operator, element)?;
            let data = in_place(data, count, by)?;
            Ok(flight.operations().allreduce_by(data, by.operator)?)
        })
    }
}

/// Starts `corecast_reduce_scatter`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
/// has `count` elements, `recv` as many as the block of this rank, until the operation has ended;
/// `operator` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_reduce_scatter(
    flight: *const Flight,
    send: *const c_void,
    count: usize,
    recv: *mut c_void,
    element: ElementCode,
    operator: *const Operator,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let by = flight.combiner(operator, element)?;
            let own_block = block(count, 1, flight.size(), flight.rank()).len();
            let (send, recv) = blocks((send, count), (recv, own_block), by)?;
            Ok(flight
                .operations()
                .reduce_scatter_by(send, recv, by.operator)?)
        })
    }
}

/// Starts `corecast_reduce_scatterv`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `counts`
/// has a number for each rank; `send` has as many elements as all of them, `recv` as many as this
/// rank's, until the operation has ended; `operator` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_reduce_scatterv(
    flight: *const Flight,
    send: *const c_void,
    counts: *const usize,
    recv: *mut c_void,
    element: ElementCode,
    operator: *const Operator,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let by = flight.combiner(operator, element)?;
            let counts = flight.counts(counts)?;
            let own_block = counts[flight.rank()];
            let (send, recv) = blocks((send, total(counts)?), (recv, own_block), by)?;
            Ok(flight
                .operations()
                .reduce_scatterv_by(send, counts, recv, by.operator)?)
        })
    }
}

/// Starts `corecast_scan`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
/// has `count` elements, until the operation has ended; `operator` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_scan(
    flight: *const Flight,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: *const Operator,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let by = flight.combiner(operator, element)?;
            let data = in_place(data, count, by)?;
            Ok(flight.operations().scan_by(data, by.operator)?)
        })
    }
}

/// Starts `corecast_exscan`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
/// has `count` elements, until the operation has ended; `operator` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_exscan(
    flight: *const Flight,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: *const Operator,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let by = flight.combiner(operator, element)?;
            let data = in_place(data, count, by)?;
            Ok(flight.operations().exscan_by(data, by.operator)?)
        })
    }
}
