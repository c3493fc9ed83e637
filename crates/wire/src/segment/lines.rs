//! The types that may lie in a segment.

/// Types that may lie in a segment.
///
/// The memory may be shared with a process that dies between two stores, or writes any bytes. So nothing that is read
/// from it is followed as an address, or used as a length or an index, before a copy of it was checked.
///
/// # Safety
///
/// - All-zero bytes are a valid value, equal to `Default::default()`; every other bit pattern is a
///   valid value too, and may appear at any moment.
/// - The type needs no `Drop`, and is shared between threads by atomics or by a protocol that its owner states. Values
///   may overlap ([`Segment::at`](super::Segment::at)), which leads to wrong numbers at worst.
pub unsafe trait Lines: Default + Send + Sync + 'static {}
