//! Any other processor: the system's clock, and nothing that reaches caches.

pub(in crate::microbench) use super::plain::clear_lines;

/// Whether a line can be driven out of all caches from user space.
pub const FLUSHES: bool = false;

/// Nanoseconds of the system's clock.
#[inline]
pub fn stamp() -> u64 {
    crate::arch::cycles()
}

/// The clock is as steady as the system makes it.
pub fn counter_is_steady() -> bool {
    true
}

/// Does nothing, because there is no portable way to flush a line.
///
/// # Safety
///
/// - None.
pub(in crate::microbench) unsafe fn flush(_line: *const u8) {}

/// Returns when all stores of this thread are visible.
pub fn finish_flushes() {
    crate::drain_stores();
}
