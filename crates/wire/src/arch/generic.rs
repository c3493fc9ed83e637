//! Any other processor: the system's clock, the compiler's spin hint, 64-byte lines.

use rustix::time::{ClockId, clock_gettime};

/// The name of the counter that [`cycles`] reads.
pub const COUNTER_NAME: &str = "clock";

/// Bytes in a cache line.
pub const LINE_BYTES: usize = 64;

/// Nanoseconds since the system's start: its clock, which all processes share, stands in for a cycle counter.
#[inline]
pub fn cycles() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Tells the core that this is a polling loop.
#[inline(always)]
pub fn relax() {
    core::hint::spin_loop();
}

/// Does nothing, because there is no portable prefetch for writing.
#[inline(always)]
pub fn claim(_line: *const u8) {}
