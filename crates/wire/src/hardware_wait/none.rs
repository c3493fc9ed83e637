//! Any other processor, models and simulations: there is no instruction.

use super::features::WaitInstruction;

/// Why a processor has no wait instruction.
pub(super) const MISSING: &str = "no wait instruction is known for this CPU";

/// There is none.
pub(super) fn instruction() -> Option<WaitInstruction> {
    None
}

/// Does nothing.
///
/// # Safety
///
/// - None.
pub(super) unsafe fn arm(_instruction: WaitInstruction, _word: *const u8) {}

/// Does nothing.
///
/// # Safety
///
/// - None.
pub(super) unsafe fn wait(_instruction: WaitInstruction, _deadline: u64) {}

/// Does nothing.
///
/// # Safety
///
/// - None.
pub(super) unsafe fn wait_until(_instruction: WaitInstruction, _deadline: u64) {}
