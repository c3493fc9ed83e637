//! Operations in flight: several of them at a time, and computing meanwhile.
//!
//! Rust ties them to a scope, C to the time in which a body runs: what the scope would hold is erased to
//! `'static` here, and every handle that knows of it ends before `corecast_overlap` returns.

pub mod moves;
pub mod reductions;

use crate::given::Seat;
use crate::member::{Member, call};
use crate::memory::{give, numbers};
use crate::own::Own;
use crate::status::{Refusal, Status, StatusCode, entry};
use corecast::Overlap;
use std::cell::RefCell;
use std::ffi::c_void;
use std::thread::{self, ThreadId};

/// A member whose operations are in flight, for as long as the body of `corecast_overlap` runs. Only the
/// thread of the body may use it.
#[derive(Debug)]
pub struct Flight {
    overlap: &'static Overlap<'static, 'static>,
    thread: ThreadId,
    kept: &'static Kept,
    /// Those that were waited for are used anew.
    #[allow(
        clippy::vec_box,
        reason = "handles are their addresses, while the list grows"
    )]
    requests: RefCell<Vec<Box<Request>>>,
}

/// An operation in flight. It is given back by `corecast_request_wait`, or when the body returns.
#[derive(Debug)]
pub struct Request {
    flight: *const Flight,
    inner: RefCell<Option<InFlight>>,
}

type InFlight = corecast::Request<'static, 'static, 'static>;

/// What operations look at until they have ended, at addresses that stay.
#[derive(Debug, Default)]
struct Kept {
    #[allow(clippy::vec_box, reason = "each is borrowed while the list grows")]
    operators: RefCell<Vec<Box<Own>>>,
    #[allow(clippy::vec_box, reason = "each is borrowed while the list grows")]
    numbers: RefCell<Vec<Box<Vec<usize>>>>,
}

/// What a member does while operations of its are in flight. It must not unwind: no exception, no
/// `longjmp`.
///
/// # Safety
///
/// `flight` is lent for as long as this runs; `context` is what `corecast_overlap` was given.
pub type FlightBody = Option<unsafe extern "C" fn(flight: *const Flight, context: *mut c_void)>;

impl Flight {
    fn seat(&self) -> Seat {
        (self.overlap.rank(), self.overlap.size())
    }

    /// An operator, until all operations have ended.
    fn keep(&self, own: Own) -> &'static Own {
        let own = Box::new(own);
        let address = &raw const *own;
        self.kept.operators.borrow_mut().push(own);
        // SAFETY: in a box that `corecast_overlap` drops after all operations have ended.
        unsafe { &*address }
    }

    /// Room for numbers, until all operations have ended.
    fn room(&self) -> &'static mut Vec<usize> {
        let mut room = Box::<Vec<usize>>::default();
        let address = &raw mut *room;
        self.kept.numbers.borrow_mut().push(room);
        // SAFETY: as in `keep`; nobody else knows this one.
        unsafe { &mut *address }
    }

    /// A copy of counts, until all operations have ended.
    ///
    /// # Safety
    ///
    /// `counts` is NULL or has a number for each rank.
    unsafe fn counts(&self, counts: *const usize) -> Result<&'static [usize], Refusal> {
        // SAFETY: the caller's promise.
        let counts = unsafe { numbers("counts", counts, self.overlap.size())? };
        let room = self.room();
        room.extend_from_slice(counts);
        Ok(room)
    }

    /// Whether this is the thread of the body.
    fn check_thread(&self) -> Result<(), Refusal> {
        match thread::current().id() == self.thread {
            true => Ok(()),
            false => Err(Refusal::new(
                Status::Busy,
                "operations in flight belong to the thread of corecast_overlap",
            )),
        }
    }
}

/// Starts an operation.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle.
unsafe fn start(
    flight: *const Flight,
    request: *mut *mut Request,
    begin: impl FnOnce(&'static Flight) -> Result<InFlight, Refusal>,
) -> StatusCode {
    entry(|| {
        // SAFETY: NULL, or the caller's promise. What is borrowed of it ends before the body does.
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

/// Runs `body`, which starts operations without waiting for them and computes in between. All have
/// ended when this returns. As with operations that wait all members start the same ones in the same
/// order, but may wait for them in any order. Up to as many as the team's depth are in flight; one more
/// waits for the oldest.
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
    let run = |hand: &mut crate::member::Hand| {
        let body = body.ok_or_else(|| Refusal::null("body"))?;
        let kept = Kept::default();
        let kept_at = &raw const kept;
        let outcome = hand.member()?.overlap(|overlap| {
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

/// Says to `done` whether the operation has ended. Lets all in flight go as far as they can.
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

/// Waits until the operation has ended, and gives the request back.
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
