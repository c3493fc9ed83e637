//! x86-64: `rdtsc` between `lfence`, `clflush`, `movnt`, `tpause`.

use core::arch::x86_64::{__cpuid, __cpuid_count, __m128i, _mm_clflush, _mm_setzero_si128};
use core::arch::x86_64::{_mm_sfence, _mm_stream_si128};
use std::sync::OnceLock;

/// Whether a line can be driven out of all caches from user space.
pub const FLUSHES: bool = true;

/// The instruction behind [`nap_until`].
pub const NAP_NAME: &str = "tpause";

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

/// Whether the processor has instructions that sleep for a moment without the system (WAITPKG).
pub fn naps() -> bool {
    static NAPS: OnceLock<bool> = OnceLock::new();
    *NAPS.get_or_init(|| __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ecx & 1 << 5 != 0)
}

/// Sleeps lightly until the counter reads `deadline`, or the system's limit for such sleeps has passed;
/// returns at once where the processor has no such instruction.
pub fn nap_until(deadline: u64) {
    if !naps() {
        return;
    }
    // C0.1, the lighter of the two states.
    const STATE: u32 = 1;
    // SAFETY: the instruction exists, as was just asked; it has no memory operands and writes only flags.
    unsafe {
        core::arch::asm!(
            "tpause ecx",
            in("ecx") STATE,
            in("eax") deadline as u32,
            in("edx") (deadline >> 32) as u32,
            options(nomem, nostack)
        );
    }
}

/// Sleeps lightly until somebody writes the line at `line`, the counter reads `deadline`, or the system's
/// limit has passed, unless `ready` holds once the line is watched. Returns at once without WAITPKG.
///
/// # Safety
///
/// - `line` lies in memory that the caller may read.
pub(in crate::microbench) unsafe fn watch(
    line: *const u8,
    deadline: u64,
    ready: impl FnOnce() -> bool,
) {
    if !naps() {
        return;
    }
    // SAFETY: the instruction exists; it arms a monitor of the line and accesses nothing else. No `nomem`:
    // the look below must come after it.
    unsafe { core::arch::asm!("umonitor rax", in("rax") line, options(nostack, preserves_flags)) };
    if ready() {
        return;
    }
    // SAFETY: as in `nap_until`.
    unsafe {
        core::arch::asm!(
            "umwait ecx",
            in("ecx") 1_u32,
            in("eax") deadline as u32,
            in("edx") (deadline >> 32) as u32,
            options(nostack)
        );
    }
}
