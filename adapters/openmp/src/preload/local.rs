//! A thread's own memory, without a call.
//!
//! What `thread_local!` gives to a library takes a call for each use, as the library might have been loaded when all
//! threads were there. This one is loaded before the program, so its memory lies beside the thread pointer, at a
//! distance that the loader knows (ELF's *initial-exec* model). Opened later it takes what the C library keeps free
//! for such libraries.

use super::here::Here;
use std::arch::{asm, global_asm};

global_asm!(
    ".pushsection .tbss.corecast_openmp_here,\"awT\",%nobits",
    ".globl corecast_openmp_here",
    ".hidden corecast_openmp_here",
    ".type corecast_openmp_here,%object",
    ".size corecast_openmp_here,{size}",
    ".p2align 6",
    "corecast_openmp_here:",
    ".zero {size}",
    ".popsection",
    size = const size_of::<Here>(),
);

/// This thread's. All zeros at first.
#[inline(always)]
pub(crate) fn here<'a>() -> &'a Here {
    let at: *const Here;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads the thread pointer and a word that the loader has written.
    unsafe {
        asm!(
            "mov {at}, fs:[0]",
            "add {at}, qword ptr [rip + corecast_openmp_here@GOTTPOFF]",
            at = out(reg) at,
            options(pure, nomem, nostack)
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        asm!(
            "mrs {at}, tpidr_el0",
            "adrp {way}, :gottprel:corecast_openmp_here",
            "ldr {way}, [{way}, :gottprel_lo12:corecast_openmp_here]",
            "add {at}, {at}, {way}",
            at = out(reg) at,
            way = out(reg) _,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    // SAFETY: as large and aligned as `Here`, for which zeros are valid, and there as long as the thread, which keeps
    // it to itself.
    unsafe { &*at }
}
