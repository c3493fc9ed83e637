//! AArch64: the virtual counter, `isb`, 64-byte lines.

/// The name of the counter that [`cycles`] reads.
pub const COUNTER_NAME: &str = "cntvct_el0";

/// Bytes in a cache line.
pub const LINE_BYTES: usize = 64;

/// Reads the virtual counter, which is steady, but coarse on some machines (tens of nanoseconds).
#[inline(always)]
pub fn cycles() -> u64 {
    let ticks: u64;
    // SAFETY: the register is readable from user space on Linux; no memory is touched.
    unsafe {
        core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags));
    }
    ticks
}

/// Tells the core that this is a polling loop: `isb` waits for a few tens of cycles, where
/// `yield` is a no-op on most implementations.
#[inline(always)]
pub fn relax() {
    // SAFETY: a barrier instruction without operands.
    unsafe { core::arch::asm!("isb", options(nomem, nostack, preserves_flags)) }
}

/// Prefetches a line of memory for writing, without waiting for it.
#[inline(always)]
pub fn claim(line: *const u8) {
    // SAFETY: a hint that never faults, whatever the address.
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) line, options(nostack, preserves_flags));
    }
}
