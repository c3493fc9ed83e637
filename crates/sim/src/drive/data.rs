//! What each rank of a simulated call brings.

use std::ops::Range;

/// What rank `rank` brings: bytes that differ from rank to rank.
pub(super) fn given(rank: usize, len: usize) -> Vec<u8> {
    (0..len)
        .map(|index| (index * 7 + rank * 31 + 1) as u8)
        .collect()
}

/// Where each rank's part is among parts of `len` bytes.
pub(super) fn parts(len: usize) -> impl Fn(usize) -> Range<usize> + Copy {
    move |rank| rank * len..(rank + 1) * len
}
