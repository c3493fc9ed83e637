//! An allreduction by recursive halving of the blocks that a rank sums up, then recursive doubling of those that it
//! has.
//!
//! ```text
//!   4 ranks, what a rank sums up:
//!   rank 0   all ─ with 1 ─► lower half ─ with 2 ─► first quarter
//!   rank 1   all ─ with 0 ─► upper half ─ with 3 ─► third quarter
//! ```
//!
//! The nearest ranks exchange first, so the order of ranks is kept, and the order of reduction is that of
//! [`reduce::ordered_tree`](crate::reduce::ordered_tree).

use crate::combine::Combine;
use crate::pipeline::block;
use crate::transfer::TransferProtocol;
use corecast_wire::Fabric;
use std::ops::Range;

/// Combines the `len` bytes of all ranks' windows into each of them, in rank order. `incoming` has room for a
/// message.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// 2 log2 n transfers by each rank, of len / 2, len / 4, …, len / n bytes and back. Needs a power of
/// two of ranks, and links from r to r ^ 2^k.
///
/// # Source
///
/// Rabenseifner 2004, where the farthest ranks exchange first.
pub fn rabenseifner<F: Fabric>(
    fabric: &mut F,
    window: &mut F::Window<'_>,
    len: usize,
    incoming: &mut [u8],
    combine: &impl Combine,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    debug_assert!(n.is_power_of_two(), "{n} ranks");
    let blocks = |range: &Range<usize>| {
        let at = |index| block(len, combine.element_size(), n, index);
        at(range.start).start..at(range.end - 1).end
    };
    let mut left = 0..n;
    let mut distance = 1;
    while distance < n {
        let peer = rank ^ distance;
        let middle = left.start + left.len() / 2;
        let (mine, theirs) = match rank & distance {
            0 => (left.start..middle, middle..left.end),
            _ => (middle..left.end, left.start..middle),
        };
        protocol
            .to_combine()
            .give(fabric, window, peer, blocks(&theirs))?;
        let sum = fabric.view_mut(window, blocks(&mine))?;
        protocol.take_with(fabric, peer, sum.len(), incoming, |start, piece| {
            let sum = &mut sum[start..start + piece.len()];
            if peer < rank {
                combine.combine_left(sum, piece);
            } else {
                combine.combine(sum, piece);
            }
        })?;
        left = mine;
        distance *= 2;
    }
    while distance > 1 {
        distance /= 2;
        let peer = rank ^ distance;
        protocol.give(fabric, window, peer, blocks(&left))?;
        let width = left.len();
        let theirs = match rank & distance {
            0 => left.end..left.end + width,
            _ => left.start - width..left.start,
        };
        let into = fabric.view_mut(window, blocks(&theirs))?;
        protocol.take(fabric, peer, into)?;
        left = left.start.min(theirs.start)..left.end.max(theirs.end);
    }
    fabric.flush()
}
