//! Types that fill whole cache lines.

use core::ops::Deref;

/// Bytes in a cache line, the unit in which cores exchange data.
pub const LINE_BYTES: usize = crate::arch::LINE_BYTES;

/// Bytes between lines that must not disturb each other: the adjacent-line prefetcher of many
/// x86-64 processors fetches lines in pairs.
pub const PAIR_BYTES: usize = 2 * LINE_BYTES;

/// A value that shares its pair of lines with nothing else.
///
/// # Examples
///
/// ```
/// use corecast_wire::{Line, PAIR_BYTES};
/// assert_eq!(size_of::<Line<u8>>(), PAIR_BYTES);
/// assert_eq!(align_of::<Line<u8>>(), PAIR_BYTES);
/// ```
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Line<T>(pub T);

impl<T> Deref for Line<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

const _: () = assert!(align_of::<Line<u8>>() == PAIR_BYTES);
const _: () = assert!(size_of::<Line<[u8; LINE_BYTES]>>() == PAIR_BYTES);
