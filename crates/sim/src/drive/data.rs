//! The data that each rank of a simulated call contributes.

use std::ops::Range;

/// The `len` bytes that rank `rank` contributes; they differ from rank to rank.
pub(super) fn given(rank: usize, len: usize) -> Vec<u8> {
    (0..len)
        .map(|index| (index * 7 + rank * 31 + 1) as u8)
        .collect()
}

/// The byte range of each rank's part, among consecutive parts of `len` bytes.
pub(super) fn parts(len: usize) -> impl Fn(usize) -> Range<usize> + Copy {
    move |rank| rank * len..(rank + 1) * len
}
