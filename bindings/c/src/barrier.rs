//! Barriers of any threads, without a team.

use crate::memory::give;
use crate::status::{Refusal, StatusCode, entry};
use crate::waiting;
use corecast::Arrival;
use std::ffi::{c_char, c_void};

/// What the last thread of a phase runs before anybody goes on. `context` is what
/// `corecast_barrier_new` was given. It must not use the barrier, nor unwind: no exception, no
/// `longjmp`.
pub type Completion = Option<unsafe extern "C" fn(context: *mut c_void)>;

/// The phase in which a thread has arrived.
pub type Phase = u32;

/// A barrier of threads that have no rank: any thread may come, and the number that is expected may
/// shrink, as with C++20's `std::barrier`. Members of a team call `corecast_barrier` instead.
#[derive(Debug)]
pub struct Barrier {
    inner: corecast::Barrier<Complete>,
}

/// A completion and its context.
type Complete = Box<dyn Fn() + Send + Sync>;

/// The context that is passed to the completion, on the thread that arrives last.
struct Context(*mut c_void);

// SAFETY: the promise of `corecast_barrier_new`: the completion may be called with it on any thread.
unsafe impl Send for Context {}
// SAFETY: the same promise; one thread at a time calls the completion.
unsafe impl Sync for Context {}

impl Context {
    fn get(&self) -> *mut c_void {
        self.0
    }
}

/// The barrier behind a handle.
///
/// # Safety
///
/// `barrier` is NULL or a live handle.
unsafe fn barrier<'a>(barrier: *const Barrier) -> Result<&'a corecast::Barrier<Complete>, Refusal> {
    // SAFETY: NULL, or the caller's promise.
    let barrier = unsafe { barrier.as_ref() }.ok_or_else(|| Refusal::null("barrier"))?;
    Ok(&barrier.inner)
}

/// The most threads that a barrier can expect.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_barrier_max() -> usize {
    corecast::Barrier::MOST
}

/// Makes a barrier of `expected` threads in each phase. The last one of each phase runs `completion`
/// with `context` before anybody goes on, unless that is NULL. `waiting` is a word as for
/// `corecast_builder_wait`; NULL means as `CORECAST_WAIT` says, else as fits the machine and the number
/// of threads.
///
/// Threads: any.
///
/// # Safety
///
/// `waiting` is NULL or a text that ends; `completion` may be called with `context` on any thread;
/// `barrier` is NULL or a place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_barrier_new(
    expected: usize,
    waiting: *const c_char,
    completion: Completion,
    context: *mut c_void,
    barrier: *mut *mut Barrier,
) -> StatusCode {
    entry(|| {
        if barrier.is_null() {
            return Err(Refusal::null("barrier"));
        }
        if expected > corecast::Barrier::MOST {
            return Err(Refusal::invalid(format!(
                "a barrier of {expected}: at most {} can be expected",
                corecast::Barrier::MOST
            )));
        }
        let context = Context(context);
        let complete: Complete = match completion {
            None => Box::new(|| ()),
            // SAFETY: the caller's promise.
            Some(completion) => Box::new(move || unsafe { completion(context.get()) }),
        };
        let inner = match waiting.is_null() {
            true => corecast::Barrier::with_completion(expected, complete)?,
            false => {
                // SAFETY: the caller's promise.
                let wait_config = unsafe { waiting::wait_config(expected, waiting)? };
                corecast::Barrier::with_wait_config(expected, wait_config, complete)
            }
        };
        // SAFETY: as above.
        unsafe {
            give(
                "barrier",
                barrier,
                Box::into_raw(Box::new(Barrier { inner })),
            )
        }
    })
}

/// Frees a barrier at which no thread waits. NULL is allowed and does nothing.
///
/// Threads: one.
///
/// # Safety
///
/// `barrier` is NULL or a live handle, which is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_barrier_free(barrier: *mut Barrier) {
    if !barrier.is_null() {
        // SAFETY: made by `corecast_barrier_new`, and the caller's promise.
        drop(unsafe { Box::from_raw(barrier) });
    }
}

/// Arrives for `arrivals` threads without waiting. Writes the phase to `phase`, unless that is NULL,
/// for `corecast_barrier_wait`. More arrivals than are missing are refused.
///
/// Threads: any.
///
/// # Safety
///
/// `barrier` is NULL or a live handle; `phase` is NULL or a place for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_barrier_arrive(
    barrier: *const Barrier,
    arrivals: usize,
    phase: *mut Phase,
) -> StatusCode {
    entry(|| {
        // SAFETY: the caller's promise, here and below.
        let barrier = unsafe { self::barrier(barrier)? };
        let fitting = u32::try_from(arrivals)
            .ok()
            .filter(|&arrivals| arrivals > 0);
        let Some(arrivals) = fitting else {
            return Err(Refusal::invalid(format!(
                "{arrivals} cannot arrive: give at least 1, and not more than are missing"
            )));
        };
        let arrival = barrier.arrive(arrivals)?;
        match phase.is_null() {
            true => Ok(()),
            // SAFETY: as above.
            false => unsafe { give("phase", phase, arrival.phase()) },
        }
    })
}

/// Waits until a phase is over: the one that runs, or the one before.
///
/// Threads: any.
///
/// # Safety
///
/// `barrier` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_barrier_wait(
    barrier: *const Barrier,
    phase: Phase,
) -> StatusCode {
    entry(|| {
        // SAFETY: the caller's promise.
        let barrier = unsafe { self::barrier(barrier)? };
        if phase > i32::MAX as u32 {
            return Err(Refusal::invalid(format!("no phase has the number {phase}")));
        }
        barrier.wait(Arrival::of_phase(phase));
        Ok(())
    })
}

/// Arrives and waits until the phase is over.
///
/// Threads: any.
///
/// # Safety
///
/// `barrier` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_barrier_arrive_and_wait(barrier: *const Barrier) -> StatusCode {
    // SAFETY: the caller's promise.
    entry(|| Ok(unsafe { self::barrier(barrier)? }.arrive_and_wait()?))
}

/// Arrives without waiting, and is not expected any more from the next phase on.
///
/// Threads: any.
///
/// # Safety
///
/// `barrier` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_barrier_arrive_and_drop(barrier: *const Barrier) -> StatusCode {
    // SAFETY: the caller's promise.
    entry(|| Ok(unsafe { self::barrier(barrier)? }.arrive_and_drop()?))
}
