//! Layer 7: the entry point by which the program unloads libraries. Addresses in them then mean nothing any more, and may
//! be those of another library later.

#![allow(unreachable_pub, reason = "reached by its name")]

use super::{init, objects, waits};
use std::ffi::{c_int, c_void};

/// Closes a library, as the C library does.
///
/// # Safety
///
/// As for `dlclose`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn dlclose(handle: *mut c_void) -> c_int {
    // SAFETY: the caller's.
    let result = unsafe { objects::close(handle) };
    if init::records_waits() {
        waits::settle();
    }
    result
}
