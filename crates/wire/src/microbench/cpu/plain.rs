//! Items for processor families that have no stores past the caches and no sleeping instructions in all
//! processors.

/// The instruction behind [`nap_until`].
pub const NAP_NAME: &str = "none";

/// Writes zeros with plain stores.
pub(in crate::microbench) fn clear_lines(lines: &mut [[u8; crate::LINE_BYTES]]) {
    lines.fill([0; crate::LINE_BYTES]);
}

/// Whether the processor has instructions that sleep for a moment without the system.
pub fn naps() -> bool {
    false
}

/// Returns at once.
pub fn nap_until(_deadline: u64) {}

/// Returns at once.
///
/// # Safety
///
/// - None.
pub(in crate::microbench) unsafe fn watch(_: *const u8, _: u64, _: impl FnOnce() -> bool) {}
