//! The body in which operations are in flight, and the handles that it uses.
//!
//! Rust ties operations in flight to a scope, C to the time in which a body runs. The lifetimes of the scope
//! are erased to `'static` here, and every handle that refers to it ends before `corecast_overlap` returns.

use crate::arguments::Position;
use crate::elements::ElementCode;
use crate::member::{Member, State, call};
use crate::memory::{give, numbers};
use crate::operators::{Combiner, Operator, combiner};
use crate::status::{Refusal, Status, StatusCode, entry};
use corecast::Overlap;
use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::Arc;
use std::thread::{self, ThreadId};

/// A member whose operations are in flight, for as long as the body of `corecast_overlap` runs. Only
/// the thread of the body may use it.
#[derive(Debug)]
pub struct Flight {
    overlap: &'static Overlap<'static, 'static>,
    thread: ThreadId,
    kept: &'static Kept,
    /// All requests that were made. A request that was waited for is used again.
    #[allow(
        clippy::vec_box,
        reason = "handles are their addresses, while the list grows"
    )]
    requests: RefCell<Vec<Box<Request>>>,
}

/// An operation in flight, until `corecast_request_wait` has returned or the body has.
#[derive(Debug)]
pub struct Request {
    flight: *const Flight,
    inner: RefCell<Option<InFlight>>,
}

type InFlight = corecast::Request<'static, 'static, 'static>;

/// Data that operations in flight use until they have ended.
#[derive(Debug, Default)]
struct Kept {
    /// Operators of the caller's own, each of them once.
    operators: RefCell<Vec<Arc<Operator>>>,
    /// Copies of counts and displacements.
    #[allow(clippy::vec_box, reason = "each is borrowed while the list grows")]
    numbers: RefCell<Vec<Box<Vec<usize>>>>,
}

/// What a member does while its operations are in flight. `flight` is lent for as long as this runs;
/// `context` is what `corecast_overlap` was given. It must not unwind: no exception, no `longjmp`.
pub type FlightBody = Option<unsafe extern "C" fn(flight: *const Flight, context: *mut c_void)>;

impl Flight {
    /// The [`Overlap`] that starts operations.
    pub(super) fn operations(&self) -> &'static Overlap<'static, 'static> {
        self.overlap
    }

    pub(super) fn rank(&self) -> usize {
        self.overlap.rank()
    }

    pub(super) fn size(&self) -> usize {
        self.overlap.size()
    }

    pub(super) fn position(&self) -> Position {
        (self.rank(), self.size())
    }

    /// The operator behind a handle, which is kept until all operations have ended.
    ///
    /// # Safety
    ///
    /// `operator` is NULL or a live handle.
    pub(super) unsafe fn combiner(
        &self,
        operator: *const Operator,
        element: ElementCode,
    ) -> Result<Combiner<'static>, Refusal> {
        // SAFETY: it is alive, by the caller's promise, and is kept below for longer than it is used.
        let by = unsafe { combiner(operator, element)? };
        let mut kept = self.kept.operators.borrow_mut();
        let is_kept = kept.iter().any(|known| Arc::as_ptr(known) == operator);
        if !is_kept {
            // SAFETY: the caller's promise; `combiner` has refused NULL.
            kept.extend(unsafe { Operator::keep(operator) });
        }
        Ok(by)
    }

    /// Room for numbers, until all operations have ended.
    pub(super) fn room(&self) -> &'static mut Vec<usize> {
        let mut room = Box::<Vec<usize>>::default();
        let address = &raw mut *room;
        self.kept.numbers.borrow_mut().push(room);
        // SAFETY: it is in a box that `corecast_overlap` drops after all operations have ended, and nobody
        // else knows it.
        unsafe { &mut *address }
    }

    /// A copy of counts, until all operations have ended.
    ///
    /// # Safety
    ///
    /// `counts` is NULL or has a number for each rank.
    pub(super) unsafe fn counts(&self, counts: *const usize) -> Result<&'static [usize], Refusal> {
        // SAFETY: the caller's promise.
        let counts = unsafe { numbers("counts", counts, self.size())? };
        let room = self.room();
        room.extend_from_slice(counts);
        Ok(room)
    }

    /// Refuses any other thread than that of the body.
    pub(super) fn check_thread(&self) -> Result<(), Refusal> {
        match thread::current().id() == self.thread {
            true => Ok(()),
            false => Err(Refusal::new(
                Status::Busy,
                "operations in flight belong to the thread of corecast_overlap",
            )),
        }
    }
}

/// The body of every function that starts an operation: it runs `entry`, checks the handle, calls `begin`,
/// and gives the request.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle.
pub(super) unsafe fn start(
    flight: *const Flight,
    request: *mut *mut Request,
    begin: impl FnOnce(&'static Flight) -> Result<InFlight, Refusal>,
) -> StatusCode {
    entry(|| {
        // SAFETY: NULL, or the caller's promise. Whatever borrows from it ends before the body does.
        let Some(flight) = (unsafe { flight.as_ref::<'static>() }) else {
            return Err(Refusal::null("flight"));
        };
        flight.check_thread()?;
        let started = begin(flight)?;
        let mut requests = flight.requests.borrow_mut();
        let free = requests
            .iter()
            .position(|request| request.inner.borrow().is_none());
        let at = free.unwrap_or(requests.len());
        if free.is_none() {
            let inner = RefCell::new(None);
            requests.push(Box::new(Request { flight, inner }));
        }
        let place = &mut requests[at];
        *place.inner.borrow_mut() = Some(started);
        if !request.is_null() {
            // SAFETY: not NULL, and the caller's promise.
            unsafe { give("request", request, &raw mut **place)? };
        }
        Ok(())
    })
}

/// Runs `body`, which starts operations without waiting for them and computes in between. All of them
/// have ended when this returns. All members start the same operations in the same order, but may wait
/// for them in any order. As many as the team's depth can be in flight; starting one more waits for the
/// oldest.
///
/// Each operation runs on a stack of its own, as does its operator: `corecast_combine_t` says what that means
/// for a function of the caller's.
///
/// Returns the first failure of an operation that the body has not waited for. While the body runs, the
/// member itself can do nothing else.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; what operations are given stays until they have ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_overlap(
    member: *mut Member,
    body: FlightBody,
    context: *mut c_void,
) -> StatusCode {
    let run = |state: &mut State| {
        let body = body.ok_or_else(|| Refusal::null("body"))?;
        let kept = Kept::default();
        let kept_at = &raw const kept;
        let outcome = state.member().overlap(|overlap| {
            // SAFETY: the flight and its requests end below, before the scope and `kept` do; the
            // operations themselves end before `overlap` returns, which is before `kept` is dropped.
            let (overlap, kept) = unsafe {
                (
                    std::mem::transmute::<&Overlap<'_, '_>, &'static Overlap<'static, 'static>>(
                        overlap,
                    ),
                    &*kept_at,
                )
            };
            let flight = Flight {
                overlap,
                thread: thread::current().id(),
                kept,
                requests: RefCell::default(),
            };
            // SAFETY: the caller's promise.
            unsafe { body(&raw const flight, context) };
            let mut outcome = Ok(());
            for request in flight.requests.into_inner() {
                if let Some(request) = request.inner.into_inner() {
                    outcome = outcome.and(request.wait());
                }
            }
            outcome
        })?;
        Ok(outcome?)
    };
    // SAFETY: the caller's promise.
    unsafe { call(member, run) }
}

/// Lets every operation in flight go as far as it can without waiting.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_flight_progress(flight: *const Flight) -> StatusCode {
    entry(|| {
        // SAFETY: NULL, or the caller's promise.
        let flight = unsafe { flight.as_ref() }.ok_or_else(|| Refusal::null("flight"))?;
        flight.check_thread()?;
        flight.overlap.progress();
        Ok(())
    })
}

/// The request behind a handle.
///
/// # Safety
///
/// `request` is NULL, or that of a body that runs and has not waited for it.
unsafe fn request<'a>(request: *const Request) -> Result<&'a Request, Refusal> {
    // SAFETY: NULL, or the caller's promise; its flight lives as long as it does.
    let request = unsafe { request.as_ref() }.ok_or_else(|| Refusal::null("request"))?;
    // SAFETY: as above.
    unsafe { &*request.flight }.check_thread()?;
    Ok(request)
}

#[cold]
fn waited_for() -> Refusal {
    Refusal::invalid("this operation was waited for already")
}

/// Writes to `done` whether the operation has ended. Lets all operations in flight go as far as they
/// can.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `request` is NULL, or one that was not waited for; `done` is NULL or a place for an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_request_test(
    request: *mut Request,
    done: *mut bool,
) -> StatusCode {
    entry(|| {
        // SAFETY: the caller's promise, here and below.
        let request = unsafe { self::request(request)? };
        let inner = request.inner.borrow();
        let ended = inner.as_ref().ok_or_else(waited_for)?.test()?;
        // SAFETY: as above.
        unsafe { give("done", done, ended) }
    })
}

/// Waits until the operation has ended, and gives the request back. It must not be used afterwards.
///
/// Threads: one, that of the body.
///
/// # Safety
///
/// `request` is NULL, or one that was not waited for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_request_wait(request: *mut Request) -> StatusCode {
    entry(|| {
        // SAFETY: the caller's promise.
        let request = unsafe { self::request(request)? };
        let inner = request.inner.borrow_mut().take();
        Ok(inner.ok_or_else(waited_for)?.wait()?)
    })
}
