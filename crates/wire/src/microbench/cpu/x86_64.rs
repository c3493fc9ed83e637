//! x86-64: `rdtsc` between `lfence`, `clflush`, `movnt`.

use core::arch::x86_64::{__cpuid, __m128i, _mm_clflush, _mm_setzero_si128};
use core::arch::x86_64::{_mm_sfence, _mm_stream_si128};

/// Whether a line can be driven out of all caches from user space.
pub const FLUSHES: bool = true;

/// The time-stamp counter, read when everything before has finished executing, and before anything after
/// begins. Stores may still be in the write buffer.
#[inline(always)]
pub fn stamp() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: two fences and the counter: no memory operands, on every x86-64 processor. No `nomem`, so
    // the compiler moves no access to memory across either.
    unsafe {
        core::arch::asm!("lfence", "rdtsc", "lfence", out("eax") low, out("edx") high, options(nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Whether the counter ticks at one rate whatever the core's frequency, and in all sleep states
/// (the *invariant TSC*).
pub fn counter_is_steady() -> bool {
    const LEAF: u32 = 0x8000_0007;
    __cpuid(0x8000_0000).eax >= LEAF && __cpuid(LEAF).edx & 1 << 8 != 0
}

/// Drives the line at `line` out of all caches.
///
/// # Safety
///
/// - `line` lies in memory that the caller may read.
#[inline(always)]
pub(in crate::microbench) unsafe fn flush(line: *const u8) {
    // SAFETY: SSE2 is in every x86-64 processor; the caller's contract.
    unsafe { _mm_clflush(line) };
}

/// Returns when all flushes of this thread have taken effect.
#[inline(always)]
pub fn finish_flushes() {
    crate::drain_stores();
}

/// Writes zeros past the caches, and returns when they are ordered with later stores.
pub(in crate::microbench) fn clear_lines(lines: &mut [[u8; crate::LINE_BYTES]]) {
    for line in lines {
        let to = line.as_mut_ptr().cast::<__m128i>();
        for part in 0..crate::LINE_BYTES / size_of::<__m128i>() {
            // SAFETY: within the line; lines begin at multiples of their length, see the caller
            // `clear_past_caches`; SSE2 is in every x86-64 processor.
            unsafe { _mm_stream_si128(to.add(part), _mm_setzero_si128()) };
        }
    }
    // SAFETY: SSE is in every x86-64 processor.
    unsafe { _mm_sfence() };
}
