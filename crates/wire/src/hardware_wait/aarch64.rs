//! AArch64: a load-exclusive, then `wfe` or `wfet`.

use super::features::{Hwcap, WaitInstruction};

/// Why a processor has no wait instruction.
pub(super) const MISSING: &str =
    "nothing ends this CPU's WFE in time (the kernel has no event stream, and WFET is missing)";

/// The instruction of this processor.
pub(super) fn instruction() -> Option<WaitInstruction> {
    // SAFETY: the call has no preconditions, and returns zero for what the kernel does not tell.
    let word = |kind| unsafe { libc::getauxval(kind) };
    let words = Hwcap {
        hwcap: word(libc::AT_HWCAP),
        hwcap2: word(libc::AT_HWCAP2),
    };
    words.instruction()
}

/// Has the processor monitor the line of `word`: a write by another one takes the exclusive access away, which is an
/// event.
///
/// # Safety
///
/// - `word` may be read.
#[inline(always)]
pub(super) unsafe fn arm(_instruction: WaitInstruction, word: *const u8) {
    // SAFETY: by the caller's contract the byte may be read; nothing is written. No `nomem`, and Acquire: the look that
    // follows must come after it. Its partner is any store to the line.
    unsafe {
        core::arch::asm!(
            "ldaxrb {seen:w}, [{word}]",
            seen = out(reg) _, word = in(reg) word,
            options(nostack, preserves_flags)
        );
    }
}

/// Waits for a write of the line that is monitored, until the counter reads `deadline`, which `wfe` does not look at, or
/// anything else happens.
///
/// # Safety
///
/// - The processor has `instruction`.
#[inline(always)]
pub(super) unsafe fn wait(instruction: WaitInstruction, deadline: u64) {
    // No `nomem`: the look that follows must come after it.
    match instruction {
        // SAFETY: by the caller's contract the instruction exists; it accesses no memory. The word is `wfet x9`, which
        // assemblers know only for Armv8.7.
        WaitInstruction::Wfet => unsafe {
            core::arch::asm!(".inst 0xd5031009", in("x9") deadline, options(nostack, preserves_flags));
        },
        // SAFETY: every AArch64 processor has it; it accesses no memory.
        WaitInstruction::Wfe => unsafe {
            core::arch::asm!("wfe", options(nostack, preserves_flags));
        },
        _ => {}
    }
}

/// Waits until the counter reads `deadline`, or less long; `wfe` until the next event.
///
/// # Safety
///
/// - The processor has `instruction`.
#[inline(always)]
pub(super) unsafe fn wait_until(instruction: WaitInstruction, deadline: u64) {
    // SAFETY: the caller's contract.
    unsafe { wait(instruction, deadline) }
}
