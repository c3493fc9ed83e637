//! The token of scatters and gathers: how much is read with it, and how much after it.

use std::ops::Range;

/// As much as may be read without the token, in bytes: half of a second-level cache.
pub const TOKEN_BYTES: usize = 64 * 1024;

/// The two pieces of a part: what is read with the token, and after it. Whole elements.
#[inline]
pub(crate) fn halves(
    part: Range<usize>,
    (element_size, token_bytes): (usize, usize),
) -> [Range<usize>; 2] {
    let after = token_bytes.min(part.len()) / element_size * element_size;
    let middle = part.end - after;
    [part.start..middle, middle..part.end]
}
