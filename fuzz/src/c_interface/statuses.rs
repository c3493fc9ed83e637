//! Statuses that calls return, and arguments of any kind.

use arbitrary::{Result, Unstructured};
use corecast_c::status::{Status, corecast_error_message, corecast_status_name};
use std::ffi::{CStr, CString};

/// Checks that a failed call has left a text of one line, and that no call has panicked.
pub(super) fn told(status: Status) -> Status {
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
pub(super) fn refused(status: Status) {
    assert_eq!(told(status), Status::Invalid);
}

/// Bytes as a text of C, up to the first 0.
pub(super) fn text(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|&byte| byte == 0);
    CString::new(&bytes[..end.unwrap_or(bytes.len())]).expect("no 0 is left")
}

/// Any number, with those near the ends of what fits more often.
pub(super) fn number(u: &mut Unstructured) -> Result<usize> {
    Ok(match u.int_in_range(0..=4)? {
        0 => u.arbitrary()?,
        1 => usize::MAX - u.int_in_range(0..=3)?,
        2 => 1 << u.int_in_range(0..=63)?,
        _ => u.int_in_range(0..=5)?,
    })
}
