//! The C interface under any sequence of calls: what it should refuse it refuses, with a status and a text and as if
//! nothing had been called, and what succeeds gives what a simple model gives.
//!
//! What the contract leaves to callers, such as handles that were freed or buffers that are shorter than was said, is
//! not called.
#![allow(unsafe_code, reason = "a caller of C hands over pointers")]

mod alone;
mod calls;
mod data;
mod settings;
mod teams;

use arbitrary::{Result, Unstructured};
use corecast_c::status::{Status, corecast_error_message, corecast_status_name};
use std::ffi::{CStr, CString};

/// Calls functions of the C interface as the input says.
///
/// # Panics
///
/// When a status, a text, a result or the bytes around a buffer are not what they should be.
pub fn c_interface(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    // An input that ends early has been run as far as it goes.
    let _ = match u.int_in_range(0..=7).unwrap_or(0) {
        0 => alone::queue(&mut u),
        1 => alone::barrier(&mut u),
        2 => settings::refusals(&mut u),
        _ => teams::run(&mut u),
    };
}

/// Checks that a failed call has left a text of one line, and that no call has panicked.
fn told(status: Status) -> Status {
    // SAFETY: texts of the library, ended by 0; this thread calls nothing meanwhile.
    let (text, name) = unsafe {
        let name = corecast_status_name(status as i32);
        (
            CStr::from_ptr(corecast_error_message()),
            CStr::from_ptr(name),
        )
    };
    let text = text.to_str().expect("texts are UTF-8");
    assert_ne!(status, Status::Panicked, "{text}");
    assert!(name != c"unknown", "{status:?}");
    if status != Status::Ok {
        assert!(
            !text.is_empty() && !text.contains('\n'),
            "{status:?}: {text:?}"
        );
    }
    status
}

/// Checks that a call was refused.
#[track_caller]
fn refused(status: Status) {
    assert_eq!(told(status), Status::Invalid);
}

/// Bytes as a text of C, up to the first 0.
fn text(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|&byte| byte == 0);
    CString::new(&bytes[..end.unwrap_or(bytes.len())]).expect("no 0 is left")
}

/// Any number, with those near the ends of what fits more often.
fn number(u: &mut Unstructured) -> Result<usize> {
    Ok(match u.int_in_range(0..=4)? {
        0 => u.arbitrary()?,
        1 => usize::MAX - u.int_in_range(0..=3)?,
        2 => 1 << u.int_in_range(0..=63)?,
        _ => u.int_in_range(0..=5)?,
    })
}
