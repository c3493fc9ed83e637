//! The token of scatters and gathers, and the split of a part into bytes that are read with the
//! token and after it.

use std::ops::Range;

/// Most bytes that may be read without the token: half of a second-level cache.
pub const TOKEN_BYTES: usize = 64 * 1024;

/// The two pieces of a part, in whole elements: the one that is read with the token, and the one
/// after it.
#[inline]
pub(crate) fn halves(
    part: Range<usize>,
    (element_size, token_bytes): (usize, usize),
) -> [Range<usize>; 2] {
    let after = token_bytes.min(part.len()) / element_size * element_size;
    let middle = part.end - after;
    [part.start..middle, middle..part.end]
}
