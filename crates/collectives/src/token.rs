//! The token of scatters and gathers: the split of a part into bytes that are read with the token and after it, and
//! when the token is passed on.

use std::ops::Range;

#[cfg(test)]
mod tests;

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

/// When a rank that has the token passes it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    /// Before it reads anything: conditions 1 and 2.
    Before,
    /// Between the two pieces: condition 3.
    Between,
    /// When it has read all, because a seeded fault has left out the condition that holds.
    Last,
}

/// Returns when the token is passed on, by the first condition that holds (NUMA clusters §3.2):
///
/// 1. the rank is `near`, on the root's node, and needs no way out of it;
/// 2. there is not more to read than may be read without the token, so the piece `with` it is empty;
/// 3. not more than that is left, which is so after the piece `with` it.
#[inline]
pub(crate) fn passing(near: bool, with: &Range<usize>) -> Passing {
    let at = |condition, passing| match is_left_out(condition) {
        false => passing,
        true => Passing::Last,
    };
    match (near && !is_left_out(1), with.is_empty()) {
        (true, _) => Passing::Before,
        (false, true) => at(2, Passing::Before),
        (false, false) => at(3, Passing::Between),
    }
}

#[cfg(test)]
use tests::is_left_out;

/// Whether a seeded fault leaves out a condition.
#[cfg(not(test))]
#[inline]
const fn is_left_out(_condition: u8) -> bool {
    false
}
