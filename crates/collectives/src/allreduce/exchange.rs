//! An allreduction between two ranks, which give each other their data and combine both in rank
//! order: one hop instead of two.

use crate::combine::Combine;
use corecast_wire::Fabric;

/// Combines both ranks' `sum` into both. Both compute rank 0's value combined with rank 1's, so
/// the results are equal.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Panics
///
/// Debug builds: if the fabric does not have exactly two ranks.
///
/// # Cost
///
/// 2 messages, at the same time.
#[inline(always)]
pub fn exchange<F: Fabric>(
    fabric: &mut F,
    sum: &mut [u8],
    incoming: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    debug_assert_eq!(fabric.size(), 2, "an exchange is between two ranks");
    let peer = 1 - fabric.rank();
    fabric.swap(peer, sum, incoming)?;
    combine_two(fabric.rank(), sum, incoming, combine);
    Ok(())
}

/// Combines what `rank`, which has `sum`, and the other one of two ranks have given each other.
#[inline(always)]
pub fn combine_two(
    rank: usize,
    sum: &mut [u8],
    incoming: &[u8],
    combine: &(impl Combine + ?Sized),
) {
    match rank {
        0 => combine.combine(sum, incoming),
        _ => combine.combine_left(sum, incoming),
    }
}
