//! The operations of `reductions.rs`, started without waiting for them.

use super::{Flight, Request, start};
use crate::given::check_root;
use crate::names::{ElementCode, OperatorCode};
use crate::own::{Own, OwnOperator};
use crate::reductions::{With, blocks, in_place, named, total};
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
/// has `count` elements, until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_reduce(
    flight: *const Flight,
    root: usize,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: OperatorCode,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            check_root(root, flight.overlap.size())?;
            let with = named(operator, element)?;
            Ok(flight
                .overlap
                .reduce_by(root, in_place(data, count, with)?, with.0)?)
        })
    }
}

/// Starts `corecast_reduce_with`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
/// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
/// operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_reduce_with(
    flight: *const Flight,
    root: usize,
    data: *mut c_void,
    count: usize,
    operator: *const OwnOperator,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            check_root(root, flight.overlap.size())?;
            let with: With<'static> = (flight.keep(Own::of(operator)?), 1);
            Ok(flight
                .overlap
                .reduce_by(root, in_place(data, count, with)?, with.0)?)
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
/// has `count` elements, until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_allreduce(
    flight: *const Flight,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: OperatorCode,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let with = named(operator, element)?;
            Ok(flight
                .overlap
                .allreduce_by(in_place(data, count, with)?, with.0)?)
        })
    }
}

/// Starts `corecast_allreduce_with`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
/// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
/// operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_allreduce_with(
    flight: *const Flight,
    data: *mut c_void,
    count: usize,
    operator: *const OwnOperator,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let with: With<'static> = (flight.keep(Own::of(operator)?), 1);
            Ok(flight
                .overlap
                .allreduce_by(in_place(data, count, with)?, with.0)?)
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
/// has `count` elements, `recv` as many as the block of this rank, until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_reduce_scatter(
    flight: *const Flight,
    send: *const c_void,
    count: usize,
    recv: *mut c_void,
    element: ElementCode,
    operator: OperatorCode,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let with = named(operator, element)?;
            let own_block = block(count, 1, flight.overlap.size(), flight.overlap.rank()).len();
            let (send, recv) = blocks((send, count), (recv, own_block), with)?;
            Ok(flight.overlap.reduce_scatter_by(send, recv, with.0)?)
        })
    }
}

/// Starts `corecast_reduce_scatter_with`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
/// has `count` elements, `recv` as many as the block of this rank. `operator` is NULL or an
/// operator that keeps to its contract, until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_reduce_scatter_with(
    flight: *const Flight,
    send: *const c_void,
    count: usize,
    recv: *mut c_void,
    operator: *const OwnOperator,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let with: With<'static> = (flight.keep(Own::of(operator)?), 1);
            let own_block = block(count, 1, flight.overlap.size(), flight.overlap.rank()).len();
            let (send, recv) = blocks((send, count), (recv, own_block), with)?;
            Ok(flight.overlap.reduce_scatter_by(send, recv, with.0)?)
        })
    }
}

/// Starts `corecast_reduce_scatterv`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle;
/// `counts` has a number for each rank, `send` as many elements as all of them, `recv` as many as
/// this rank's, until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_reduce_scatterv(
    flight: *const Flight,
    send: *const c_void,
    counts: *const usize,
    recv: *mut c_void,
    element: ElementCode,
    operator: OperatorCode,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let with = named(operator, element)?;
            let counts = flight.counts(counts)?;
            let own_block = counts[flight.overlap.rank()];
            let (send, recv) = blocks((send, total(counts)?), (recv, own_block), with)?;
            Ok(flight
                .overlap
                .reduce_scatterv_by(send, counts, recv, with.0)?)
        })
    }
}

/// Starts `corecast_reduce_scatterv_with`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle;
/// `counts` has a number for each rank, `send` as many elements as all of them, `recv` as many as
/// this rank's. `operator` is NULL or an operator that keeps to its contract, until the operation
/// has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_reduce_scatterv_with(
    flight: *const Flight,
    send: *const c_void,
    counts: *const usize,
    recv: *mut c_void,
    operator: *const OwnOperator,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let with: With<'static> = (flight.keep(Own::of(operator)?), 1);
            let counts = flight.counts(counts)?;
            let own_block = counts[flight.overlap.rank()];
            let (send, recv) = blocks((send, total(counts)?), (recv, own_block), with)?;
            Ok(flight
                .overlap
                .reduce_scatterv_by(send, counts, recv, with.0)?)
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
/// has `count` elements, until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_scan(
    flight: *const Flight,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: OperatorCode,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let with = named(operator, element)?;
            Ok(flight
                .overlap
                .scan_by(in_place(data, count, with)?, with.0)?)
        })
    }
}

/// Starts `corecast_scan_with`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
/// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
/// operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_scan_with(
    flight: *const Flight,
    data: *mut c_void,
    count: usize,
    operator: *const OwnOperator,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let with: With<'static> = (flight.keep(Own::of(operator)?), 1);
            Ok(flight
                .overlap
                .scan_by(in_place(data, count, with)?, with.0)?)
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
/// has `count` elements, until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_exscan(
    flight: *const Flight,
    data: *mut c_void,
    count: usize,
    element: ElementCode,
    operator: OperatorCode,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let with = named(operator, element)?;
            Ok(flight
                .overlap
                .exscan_by(in_place(data, count, with)?, with.0)?)
        })
    }
}

/// Starts `corecast_exscan_with`.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
/// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
/// operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_start_exscan_with(
    flight: *const Flight,
    data: *mut c_void,
    count: usize,
    operator: *const OwnOperator,
    request: *mut *mut Request,
) -> StatusCode {
    // SAFETY: the caller's promise.
    unsafe {
        start(flight, request, |flight| {
            let with: With<'static> = (flight.keep(Own::of(operator)?), 1);
            Ok(flight
                .overlap
                .exscan_by(in_place(data, count, with)?, with.0)?)
        })
    }
}
