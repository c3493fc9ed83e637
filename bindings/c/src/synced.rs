//! Operations with barriers around them.

use crate::member::{Member, of_handle, using};
use crate::status::{Refusal, ReturnedStatus, StatusCode, entry, returned};
use std::ffi::c_void;

/// For whom one side of an operation waits, as in UPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Await {
    /// For nobody. Before: as `CORECAST_AWAIT_MY`. After: the member goes on at once, and others may
    /// read and write its data until it waits. Only operations in flight can do this; of an operation
    /// that waits it is the same as `CORECAST_AWAIT_MY`.
    No = 0,
    /// For the member's own data. Before: they may be read as soon as the member calls. After: they are
    /// as they should be, and nobody reads them any more. Every operation that waits does this by itself.
    My = 1,
    /// For all members, by a barrier. Before: nobody's data are touched until all have come. After:
    /// nobody goes on until all data of all members are as they should be.
    All = 2,
}

/// A number of `corecast_await`.
pub type AwaitCode = i32;

/// What `corecast_synced` runs between its barriers. It returns the first status that is not
/// `CORECAST_STATUS_OK`. `member` and `context` are those of `corecast_synced`. It must not unwind: no
/// exception, no `longjmp`.
pub type SyncedBody =
    Option<unsafe extern "C" fn(member: *mut Member, context: *mut c_void) -> ReturnedStatus>;

/// The side of an operation that a number stands for.
pub(crate) fn side(name: &str, code: AwaitCode) -> Result<corecast::Await, Refusal> {
    match code {
        0 => Ok(corecast::Await::No),
        1 => Ok(corecast::Await::My),
        2 => Ok(corecast::Await::All),
        _ => Err(Refusal::invalid(format!(
            "`{name}` is {code}: take one of corecast_await"
        ))),
    }
}

/// # Safety
///
/// No other thread begins a call on this member at this very instant.
unsafe fn barrier(member: &Member) -> Result<(), Refusal> {
    // SAFETY: the caller's promise.
    unsafe { using(member, |state| Ok(state.member().barrier()?)) }
}

/// Runs `body`, which calls one operation or several, with more waiting around it than they do by
/// themselves: a barrier on each side for which `CORECAST_AWAIT_ALL` is given. All members give the
/// same `before` and `after`. For less waiting than they do by themselves: `corecast_flight_synced`.
///
/// Returns the first failure: of the barrier before, after which `body` is not run; of `body`, after
/// which there is no second barrier; or of the barrier after it.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle; `body` may be called with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_synced(
    member: *mut Member,
    before: AwaitCode,
    after: AwaitCode,
    body: SyncedBody,
    context: *mut c_void,
) -> StatusCode {
    entry(|| {
        // SAFETY: the caller's promise, here and below.
        let handle = unsafe { of_handle(member)? };
        let body = body.ok_or_else(|| Refusal::null("body"))?;
        let (before, after) = (side("before", before)?, side("after", after)?);
        if before == corecast::Await::All {
            // SAFETY: as above.
            unsafe { barrier(handle)? };
        }
        // SAFETY: as above. The member is not in use by this call.
        returned(unsafe { body(member, context) })?;
        if after == corecast::Await::All {
            // SAFETY: as above.
            unsafe { barrier(handle)? };
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::Synchrony;

    #[test]
    fn numbers_are_those_of_the_library() {
        let ours = [Await::No, Await::My, Await::All];
        for (number, (ours, theirs)) in ours
            .into_iter()
            .zip(Synchrony::all().take(3).map(|sync| sync.exit))
            .enumerate()
        {
            assert_eq!(ours as usize, number);
            assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
            assert_eq!(side("after", number as i32).unwrap(), theirs);
        }
        assert!(side("before", 3).is_err() && side("before", -1).is_err());
    }
}
