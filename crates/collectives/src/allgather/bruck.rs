//! An allgather in which every step doubles the parts that a rank has, for any number of ranks.
//!
//! ```text
//!   7 ranks, at rank 0:  0 │ 1 from rank 1 │ 2 3 from rank 2 │ 4 5 6 from rank 4
//! ```

use crate::transfer::TransferProtocol;
use corecast_wire::Fabric;
use std::ops::Range;

/// Copies each rank's part to all others. Parts have `len` bytes and lie in `window` in rank order; each rank's own
/// part is there at the beginning. An interval that goes around from the last rank to the first takes two
/// transfers, because parts stay in rank order.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// ⌈log2 n⌉ steps, in each of which a rank gives one interval of ranks, in two transfers where the
/// interval goes around. Needs links from r to r ± 2^k.
///
/// # Source
///
/// Bruck, Ho, Kipnis, Upfal and Weathersby 1997 §4, without the rotation.
pub fn bruck<F: Fabric>(
    fabric: &mut F,
    window: &mut F::Window<'_>,
    len: usize,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let mut have = 1;
    while have < n {
        let more = have.min(n - have);
        let (above, below) = ((rank + have) % n, (rank + n - have) % n);
        for interval in intervals(rank, more, n) {
            let bytes = interval.start * len..interval.end * len;
            protocol.give(fabric, window, below, bytes)?;
        }
        for interval in intervals(above, more, n) {
            let into = fabric.view_mut(window, interval.start * len..interval.end * len)?;
            protocol.take(fabric, above, into)?;
        }
        have += more;
    }
    fabric.flush()
}

/// The one or two intervals of `count` ranks from `first` on, around from the last to the first.
fn intervals(first: usize, count: usize, n: usize) -> impl Iterator<Item = Range<usize>> {
    let end = first + count;
    let around = (end > n).then(|| 0..end - n);
    std::iter::once(first..end.min(n)).chain(around)
}
