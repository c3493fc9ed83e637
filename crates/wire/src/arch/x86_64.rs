//! x86-64: `rdtsc`, `pause`, 64-byte lines.

/// The name of the counter that [`cycles`] reads.
pub const COUNTER_NAME: &str = "rdtsc";

/// Bytes in a cache line.
pub const LINE_BYTES: usize = 64;

/// Reads the time-stamp counter. The read is not ordered with the loads and stores around it.
#[inline(always)]
pub fn cycles() -> u64 {
    // SAFETY: `rdtsc` has no memory operands and exists on every x86-64 processor.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Tells the core that this is a polling loop.
#[inline(always)]
pub fn relax() {
    core::arch::x86_64::_mm_pause();
}

/// Prefetches a line of memory for writing, without waiting for it.
#[inline(always)]
pub fn claim(line: *const u8) {
    // SAFETY: a hint that never faults, whatever the address; processors without it do nothing.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) line, options(nostack, preserves_flags));
    }
}
