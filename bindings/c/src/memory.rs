//! Makes slices, texts and places for results of C's pointers, checked as far as an address and a length
//! allow.

use crate::status::Refusal;
use std::ffi::{CStr, c_char, c_void};

/// Bytes of the longest array that Rust allows.
const BYTES_MAX: usize = isize::MAX as usize;

fn check(name: &str, is_null: bool, bytes: usize) -> Result<(), Refusal> {
    if is_null && bytes > 0 {
        return Err(Refusal::invalid(format!(
            "`{name}` is NULL and should have {bytes} bytes"
        )));
    }
    if bytes > BYTES_MAX {
        return Err(Refusal::invalid(format!(
            "`{name}` should have {bytes} bytes, more than there can be"
        )));
    }
    Ok(())
}

/// `count` elements of `each` bytes, in bytes.
#[inline]
pub(crate) fn length(name: &str, count: usize, each: usize) -> Result<usize, Refusal> {
    count.checked_mul(each).ok_or_else(|| {
        Refusal::invalid(format!(
            "`{name}` should have {count} elements of {each} bytes, more than there can be"
        ))
    })
}

/// An address for empty slices, aligned for any element.
fn nowhere() -> *mut c_void {
    std::ptr::NonNull::<u128>::dangling().as_ptr().cast()
}

/// A slice of bytes to read. NULL is allowed if `bytes` is 0.
///
/// # Safety
///
/// `data` has `bytes` bytes, which nobody writes for as long as the slice is used.
#[inline]
pub(crate) unsafe fn to_read<'a>(
    name: &str,
    data: *const c_void,
    bytes: usize,
) -> Result<&'a [u8], Refusal> {
    check(name, data.is_null(), bytes)?;
    let data = if bytes == 0 { nowhere() } else { data };
    // SAFETY: not NULL, of a length that can be, and the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(data.cast(), bytes) })
}

/// A slice of bytes to write. NULL is allowed if `bytes` is 0.
///
/// # Safety
///
/// `data` has `bytes` bytes, which nobody else uses for as long as the slice is.
#[inline]
pub(crate) unsafe fn to_write<'a>(
    name: &str,
    data: *mut c_void,
    bytes: usize,
) -> Result<&'a mut [u8], Refusal> {
    check(name, data.is_null(), bytes)?;
    let data = if bytes == 0 { nowhere() } else { data };
    // SAFETY: as in `to_read`.
    Ok(unsafe { std::slice::from_raw_parts_mut(data.cast(), bytes) })
}

/// Refuses buffers that overlap, before slices are made of them.
#[inline]
pub(crate) fn apart(
    (send, send_bytes): (*const c_void, usize),
    (recv, recv_bytes): (*mut c_void, usize),
) -> Result<(), Refusal> {
    let (from, to) = (send as usize, recv as usize);
    let before = from.checked_add(send_bytes).is_some_and(|end| end <= to);
    let after = to.checked_add(recv_bytes).is_some_and(|end| end <= from);
    if before || after || send_bytes == 0 || recv_bytes == 0 {
        return Ok(());
    }
    Err(Refusal::invalid(format!(
        "`send` ({send_bytes} bytes at {send:?}) and `recv` ({recv_bytes} bytes at {recv:?}) overlap: \
         give two buffers"
    )))
}

/// Refuses an address that is not a multiple of `align`.
#[inline]
pub(crate) fn aligned(name: &str, data: *const c_void, align: usize) -> Result<(), Refusal> {
    match (data as usize).is_multiple_of(align) {
        true => Ok(()),
        false => Err(Refusal::invalid(format!(
            "`{name}` at {data:?} is no place for elements that are aligned to {align} bytes"
        ))),
    }
}

/// A slice of `count` numbers.
///
/// # Safety
///
/// `numbers` has `count` of them, which nobody writes for as long as the slice is used.
pub(crate) unsafe fn numbers<'a>(
    name: &str,
    numbers: *const usize,
    count: usize,
) -> Result<&'a [usize], Refusal> {
    let bytes = length(name, count, size_of::<usize>())?;
    check(name, numbers.is_null(), bytes)?;
    aligned(name, numbers.cast(), align_of::<usize>())?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: not NULL, aligned, of a length that can be, and the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(numbers, count) })
}

/// A text of C as UTF-8.
///
/// # Safety
///
/// `text` is NULL or ended by a 0, and nobody writes it for as long as the word is used.
pub(crate) unsafe fn word<'a>(name: &str, text: *const c_char) -> Result<&'a str, Refusal> {
    if text.is_null() {
        return Err(Refusal::null(name));
    }
    // SAFETY: not NULL, and the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str()
        .map_err(|_| Refusal::invalid(format!("`{name}` is no UTF-8: {text:?}")))
}

/// Writes a result to the place that the caller gave.
///
/// # Safety
///
/// `out` is NULL or a place for a `T` that nobody else uses meanwhile.
pub(crate) unsafe fn give<T>(name: &str, out: *mut T, value: T) -> Result<(), Refusal> {
    if out.is_null() {
        return Err(Refusal::null(name));
    }
    // SAFETY: not NULL, and the caller's promise; what was there before needs no drop.
    unsafe { out.write(value) };
    Ok(())
}

/// Copies a text and the 0 at its end into a buffer of C, as much as there is room for.
///
/// # Safety
///
/// `buffer` has `capacity` bytes, or is NULL; `length` is NULL or a place for a number.
pub(crate) unsafe fn give_text(
    text: &str,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> Result<(), Refusal> {
    // SAFETY: the caller's promise.
    let into = unsafe { to_write("buffer", buffer.cast(), capacity)? };
    if let Some(room) = into.len().checked_sub(1) {
        let mut end = room.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        into[..end].copy_from_slice(&text.as_bytes()[..end]);
        into[end] = 0;
    }
    if !length.is_null() {
        // SAFETY: not NULL, and the caller's promise.
        unsafe { length.write(text.len()) };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_is_refused() {
        let bytes = [0u8; 8];
        let at = |offset: usize| bytes[offset..].as_ptr().cast::<c_void>();
        let check = |a: usize, n: usize, b: usize, m: usize| {
            apart((at(a), n), (at(b).cast_mut(), m)).is_ok()
        };
        assert!(check(0, 4, 4, 4) && check(4, 4, 0, 4));
        assert!(check(0, 0, 0, 8) && check(0, 8, 3, 0));
        assert!(!check(0, 5, 4, 4) && !check(2, 1, 0, 8) && !check(0, 8, 0, 8));
        assert!(apart((at(0), usize::MAX), (at(4).cast_mut(), 1)).is_err());
    }

    #[test]
    fn texts_are_cut_at_characters() {
        let mut buffer = [7u8; 4];
        let mut length = 0;
        let mut give = |capacity| {
            // SAFETY: the buffer is four bytes long, and no capacity larger.
            unsafe { give_text("aäb", buffer.as_mut_ptr().cast(), capacity, &raw mut length) }
                .unwrap();
            (buffer, length)
        };
        assert_eq!(give(0), ([7, 7, 7, 7], 4));
        assert_eq!(give(1), ([0, 7, 7, 7], 4));
        assert_eq!(give(3), ([b'a', 0, 7, 7], 4));
        assert_eq!(give(4), ([b'a', 0xC3, 0xA4, 0], 4));
    }

    #[test]
    fn nothing_is_read_from_nowhere() {
        let null = std::ptr::null::<c_void>();
        // SAFETY: NULL with a length is refused, without one it is nothing.
        unsafe {
            assert!(to_read("send", null, 0).unwrap().is_empty());
            assert!(to_read("send", null, 1).is_err());
            assert!(to_write("recv", null.cast_mut(), 1).is_err());
            assert!(numbers("counts", null.cast(), 2).is_err());
            assert!(word("pattern", null.cast()).is_err());
        }
        assert!(length("send", usize::MAX, 2).is_err());
    }
}
