//! Operations in flight with more or less waiting around them.

use super::overlap::Flight;
use crate::status::{Refusal, ReturnedStatus, StatusCode, entry, returned};
use crate::synced::{AwaitCode, side};
use std::ffi::c_void;

/// What `corecast_flight_synced` runs: it starts operations, and returns the first status that is not
/// `CORECAST_STATUS_OK`. `flight` and `context` are those of `corecast_flight_synced`. It must not
/// unwind: no exception, no `longjmp`.
pub type FlightSyncedBody =
    Option<unsafe extern "C" fn(flight: *const Flight, context: *mut c_void) -> ReturnedStatus>;

/// Runs `body`, which starts one operation or several, with the waiting of `corecast_await` around them.
/// All members give the same `before` and `after`.
///
/// After `CORECAST_AWAIT_NO` this returns at once, whether or not other members have come. The data must
/// then stay, and be neither written nor, if the operation writes them, read, until the member has
/// waited for the operation or `corecast_overlap` has returned. After `CORECAST_AWAIT_MY` the member's own part of the
/// operations is done; after `CORECAST_AWAIT_ALL` that of every member. Their requests may still be
/// waited for.
///
/// Returns the first failure: of the barrier before, after which `body` is not run; of `body`, after
/// which nothing waits; or of what is waited for after it.
///
/// Threads: one, that of the body of `corecast_overlap`.
///
/// # Safety
///
/// `flight` is NULL or that of a body that runs; `body` may be called with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_flight_synced(
    flight: *const Flight,
    before: AwaitCode,
    after: AwaitCode,
    body: FlightSyncedBody,
    context: *mut c_void,
) -> StatusCode {
    entry(|| {
        // SAFETY: NULL, or the caller's promise.
        let on = unsafe { flight.as_ref() }.ok_or_else(|| Refusal::null("flight"))?;
        on.check_thread()?;
        let body = body.ok_or_else(|| Refusal::null("body"))?;
        let (before, after) = (side("before", before)?, side("after", after)?);
        let entered = on.operations().enter(before)?;
        // SAFETY: the caller's promise.
        returned(unsafe { body(flight, context) })?;
        Ok(on.operations().leave(entered, after)?)
    })
}
