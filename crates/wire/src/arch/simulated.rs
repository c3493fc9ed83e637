//! No processor: virtual nanoseconds, scheduling points, 64-byte lines.

use crate::simulated::{self, Point};

/// The name of the counter that [`cycles`] reads.
pub const COUNTER_NAME: &str = "virtual nanoseconds";

/// Bytes in a cache line.
pub const LINE_BYTES: usize = 64;

/// Virtual nanoseconds.
#[inline]
pub fn cycles() -> u64 {
    simulated::now().as_nanos() as u64
}

/// Offers the turn.
#[inline]
pub fn relax() {
    simulated::point(Point::Spin);
}

/// Does nothing: all memory is equally near.
#[inline(always)]
pub fn claim(_line: *const u8) {}
