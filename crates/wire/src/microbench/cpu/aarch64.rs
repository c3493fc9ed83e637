//! AArch64: the virtual counter between `isb`, `dc civac`.

pub(in crate::microbench) use super::plain::clear_lines;

/// Whether a line can be driven out of all caches from user space.
pub const FLUSHES: bool = true;

/// The virtual counter, read when everything before has finished executing.
#[inline(always)]
pub fn stamp() -> u64 {
    let ticks: u64;
    // SAFETY: barriers and a register that user space may read on Linux. No `nomem`, so the compiler moves
    // no access to memory across it.
    unsafe {
        core::arch::asm!("dsb ishld", "isb", "mrs {}, cntvct_el0", "isb", out(reg) ticks, options(nostack, preserves_flags));
    }
    ticks
}

/// The counter ticks at one rate on every processor of the family.
pub fn counter_is_steady() -> bool {
    true
}

/// Cleans the line at `line` and drives it out of all caches. Linux permits it to user space.
///
/// # Safety
///
/// - `line` lies in memory that the caller may read.
#[inline(always)]
pub(in crate::microbench) unsafe fn flush(line: *const u8) {
    // SAFETY: by the caller's contract the address is mapped; contents are written back, never lost.
    unsafe { core::arch::asm!("dc civac, {}", in(reg) line, options(nostack, preserves_flags)) };
}

/// Returns when all flushes of this thread have taken effect.
#[inline(always)]
pub fn finish_flushes() {
    // SAFETY: a barrier instruction without operands.
    unsafe { core::arch::asm!("dsb ish", options(nostack, preserves_flags)) };
}
