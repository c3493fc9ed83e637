//! Lengths around every threshold of the code.

/// Numbers of bytes at which algorithms or transfers change, except those of a message: slots, lines, two ranks
/// that exchange whole (2 KiB), pieces of operators and the shortest chunk (4 KiB), halves of pipeline segments (8
/// KiB), pieces of owners and trees (16 KiB), pipeline segments and chunks (32 KiB), tokens (64 KiB), scratch and
/// bounce buffers (256 KiB).
const EDGES: [usize; 14] = [
    1,
    8,
    56,
    64,
    112,
    2 << 10,
    4 << 10,
    8 << 10,
    16 << 10,
    32 << 10,
    64 << 10,
    128 << 10,
    256 << 10,
    512 << 10,
];

/// Draws a number of elements of `element_size` bytes for each of `n` ranks: mostly few, sometimes around a
/// threshold, rarely many.
pub(super) fn draw(
    rng: &mut fastrand::Rng,
    element_size: usize,
    n: usize,
    message_bytes: usize,
) -> usize {
    let edge = match rng.u32(..100) {
        0..25 => rng.usize(..64),
        25..45 => message_bytes * rng.usize(1..=3),
        45..70 => EDGES[rng.usize(..6)],
        70..90 => EDGES[rng.usize(5..9)],
        90..98 => EDGES[rng.usize(8..11)],
        _ => EDGES[rng.usize(11..EDGES.len())],
    };
    // The threshold is that of the whole array or of a rank's part.
    let edge = match rng.bool() {
        true => edge,
        false => edge.div_ceil(n),
    };
    let len = (edge / element_size).saturating_add_signed(rng.isize(-1..=1));
    len.min((1 << 20) / element_size)
}
