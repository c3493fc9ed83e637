//! Symmetric memory: buffers that all processes of a team see.

use crate::member::{Member, call};
use crate::memory::give;
use crate::status::{Refusal, Status, StatusCode, entry};
use corecast::{AllocError, SymmetricBuffer};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The buffers of this process that were not freed yet, by address.
static BUFFERS: Mutex<BTreeMap<usize, SymmetricBuffer<u8>>> = Mutex::new(BTreeMap::new());

fn buffers() -> MutexGuard<'static, BTreeMap<usize, SymmetricBuffer<u8>>> {
    BUFFERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives `bytes` bytes of zeroed memory of this member to `memory`, which begin with a page. Operations of the
/// member lend what lies there without a copy to other processes, as they lend any memory to threads. They take
/// whole pages, so a few long buffers are better than many short ones. Where the process that made the team has
/// set too few addresses aside for it (`corecast_builder_symmetric`), or there is no memory, the status is
/// `CORECAST_STATUS_FAILED`.
///
/// The memory outlives its member and its team. `corecast_free` gives it back.
///
/// Threads: one.
///
/// # Safety
///
/// `member` is NULL or a live handle, `memory` NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_alloc(
    member: *mut Member,
    bytes: usize,
    memory: *mut *mut c_void,
) -> StatusCode {
    let body = |member: &mut corecast::Member| {
        if memory.is_null() {
            return Err(Refusal::null("memory"));
        }
        // So that no two buffers have one address.
        let allocated = member.alloc::<u8>(bytes.max(1));
        let mut buffer = allocated.map_err(refusal)?;
        let address = buffer.as_mut_ptr();
        // SAFETY: the caller's promise.
        unsafe { give("memory", memory, address.cast::<c_void>()) }?;
        buffers().insert(address.addr(), buffer);
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { call(member, |state| body(state.member())) }
}

/// Gives memory of `corecast_alloc` back. No operation may use it any more. NULL is allowed and does nothing;
/// any other address is refused.
///
/// Threads: any.
///
/// # Safety
///
/// Nothing uses the memory afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_free(memory: *mut c_void) -> StatusCode {
    entry(|| {
        // It is freed after the lock is given up.
        let freed = buffers().remove(&memory.addr());
        match freed.is_some() || memory.is_null() {
            true => Ok(()),
            false => Err(Refusal::invalid(
                "`memory` is none of corecast_alloc, or was freed before",
            )),
        }
    })
}

fn refusal(error: AllocError) -> Refusal {
    let status = match &error {
        AllocError::Forked => Status::Forked,
        _ => Status::Failed,
    };
    Refusal::new(status, error.to_string())
}
