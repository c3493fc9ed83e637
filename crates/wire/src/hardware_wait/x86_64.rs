//! x86-64: `umonitor`, `umwait` and `tpause`; `monitorx` and `mwaitx`.

use super::features::{Cpuid, WaitInstruction};
use core::arch::x86_64::{__cpuid_count, _rdtsc};

/// Why a processor has no wait instruction.
pub(super) const MISSING: &str =
    "this CPU has no wait instruction (WAITPKG and MONITORX are missing)";

/// The instruction of this processor.
pub(super) fn instruction() -> Option<WaitInstruction> {
    let leaf = |leaf, subleaf| {
        let words = __cpuid_count(leaf, subleaf);
        [words.eax, words.ecx]
    };
    Cpuid::read(leaf).instruction()
}

/// The lighter of `umwait`'s two states, C0.1: it takes less time to leave, and C0.2 may be forbidden by the system.
const LIGHT: u32 = 1;
/// `mwaitx`: stay in C0.
const STAY_IN_C0: u32 = 0xF0;
/// `mwaitx`: end when the time in EBX has passed.
const TIMER: u32 = 1 << 1;

/// Has the processor monitor the line at `word`.
///
/// # Safety
///
/// - The processor has `instruction`.
/// - `word` may be read.
#[inline(always)]
pub(super) unsafe fn arm(instruction: WaitInstruction, word: *const u8) {
    // No `nomem`: the look that follows must come after it. The processor orders both instructions as loads.
    match instruction {
        // SAFETY: by the caller's contract the instruction exists and the address is mapped; it accesses nothing else.
        WaitInstruction::Umwait => unsafe {
            core::arch::asm!("umonitor rax", in("rax") word, options(nostack, preserves_flags));
        },
        // SAFETY: as above; ECX and EDX are extensions and hints, of which there are none.
        WaitInstruction::Mwaitx => unsafe {
            core::arch::asm!(
                "monitorx",
                in("rax") word, in("ecx") 0_u32, in("edx") 0_u32,
                options(nostack, preserves_flags)
            );
        },
        _ => {}
    }
}

/// Waits for a write of the line that is monitored, until the time-stamp counter reads `deadline`, the system's limit
/// has passed, or anything else happens.
///
/// # Safety
///
/// - The processor has `instruction`.
#[inline(always)]
pub(super) unsafe fn wait(instruction: WaitInstruction, deadline: u64) {
    // No `nomem`: the look that follows must come after it.
    match instruction {
        // SAFETY: by the caller's contract the instruction exists; it has no memory operands and writes only flags.
        WaitInstruction::Umwait => unsafe {
            core::arch::asm!(
                "umwait ecx",
                in("ecx") LIGHT, in("eax") deadline as u32, in("edx") (deadline >> 32) as u32,
                options(nostack)
            );
        },
        WaitInstruction::Mwaitx => {
            // SAFETY: every x86-64 processor has the counter.
            let now = unsafe { _rdtsc() };
            // The shortest time for a deadline that has passed, since zero would be for ever.
            let left = (deadline.wrapping_sub(now) as i64).clamp(1, u32::MAX.into());
            // SAFETY: by the caller's contract the instruction exists; it accesses no memory. The compiler keeps RBX for
            // itself, so it is exchanged with an operand and back.
            unsafe {
                core::arch::asm!(
                    "xchg {ticks:r}, rbx",
                    "mwaitx",
                    "xchg {ticks:r}, rbx",
                    ticks = inout(reg) left => _, in("eax") STAY_IN_C0, in("ecx") TIMER,
                    options(nostack, preserves_flags)
                );
            }
        }
        _ => {}
    }
}

/// Waits until the time-stamp counter reads `deadline`, or less long.
///
/// # Safety
///
/// - The processor has `instruction`.
#[inline(always)]
pub(super) unsafe fn wait_until(instruction: WaitInstruction, deadline: u64) {
    match instruction {
        // SAFETY: by the caller's contract the instruction exists; it has no memory operands and writes only flags.
        WaitInstruction::Umwait => unsafe {
            core::arch::asm!(
                "tpause ecx",
                in("ecx") LIGHT, in("eax") deadline as u32, in("edx") (deadline >> 32) as u32,
                options(nostack)
            );
        },
        other => {
            // `mwaitx` does nothing where no line is monitored: this one is, which nobody writes meanwhile.
            let own = 0_u8;
            // SAFETY: the caller's contract; a byte of this function may be read.
            unsafe { arm(other, &raw const own) };
            // SAFETY: the caller's contract.
            unsafe { wait(other, deadline) };
        }
    }
}
