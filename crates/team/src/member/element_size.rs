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

/// Panics for elements whose alignment is above that of the buffers which partial results lie in.
pub(super) fn assert_fits<T>() {
    assert!(
        align_of::<T>() <= ALIGN_MAX,
        "elements are aligned to {}, buffers to {ALIGN_MAX}",
        align_of::<T>()
    );
}
