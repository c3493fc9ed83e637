//! Checks of an element's type: its size, and whether partial results can be aligned for it.

use corecast_collectives::context::ALIGN_MAX;

/// Bytes of an element, at least 1.
pub(super) const fn element_size<T>() -> usize {
    if size_of::<T>() == 0 {
        1
    } else {
        size_of::<T>()
    }
}

/// Whether elements are aligned to no more than the buffers which partial results lie in.
#[inline(always)]
pub(super) const fn fits<T>() -> bool {
    align_of::<T>() <= ALIGN_MAX
}

/// Panics for elements whose alignment is above that of the buffers which partial results lie in.
pub(super) fn assert_fits<T>() {
    assert!(
        fits::<T>(),
        "elements are aligned to {}, buffers to {ALIGN_MAX}",
        align_of::<T>()
    );
}
