//! Layer 2: where a table of handles keeps one.

use corecast_network::Handle;

/// Slots of a table: more than there are predefined types, or communicators that a program uses in turn.
pub(crate) const SLOTS: usize = 256;

/// The slot at which a handle is looked for first.
#[inline]
pub(crate) fn slot(handle: Handle) -> usize {
    // Addresses differ in their upper bits, numbers in their lowest.
    (handle ^ (handle >> 8)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (usize::BITS - SLOTS.ilog2())
}
