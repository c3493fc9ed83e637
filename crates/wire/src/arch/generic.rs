//! Any other processor: the system's clock, the compiler's spin hint, 64-byte lines.

use std::sync::OnceLock;
use std::time::Instant;

/// The name of the counter that [`cycles`] reads.
pub const COUNTER_NAME: &str = "clock";

/// Bytes in a cache line.
pub const LINE_BYTES: usize = 64;

/// Nanoseconds since the first call: the system's clock stands in for a cycle counter.
#[inline]
pub fn cycles() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Tells the core that this is a polling loop.
#[inline(always)]
pub fn relax() {
    core::hint::spin_loop();
}

/// Does nothing, because there is no portable prefetch for writing.
#[inline(always)]
pub fn claim(_line: *const u8) {}
