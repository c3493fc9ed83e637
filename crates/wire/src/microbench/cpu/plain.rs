//! Items for processor families that have no stores past the caches.

/// Writes zeros with plain stores.
pub(in crate::microbench) fn clear_lines(lines: &mut [[u8; crate::LINE_BYTES]]) {
    lines.fill([0; crate::LINE_BYTES]);
}
