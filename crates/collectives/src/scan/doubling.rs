//! A scan that reaches twice as far with every step: after step k a rank has combined the 2^(k+1) ranks up to its
//! own.

use super::upto::Upto;
use crate::combine::Combine;
use crate::transfer::TransferProtocol;
use corecast_wire::{Fabric, copy};

/// Combines the data of all ranks `upto` this one into this rank's `data`, in rank order. Order of reduction: the
/// sum over a power of two of ranks is that over its lower half combined with that over its upper half, and a
/// rank's intervals are counted from itself down. Buffers: two places for scratch, as long as `data`; room for a
/// message.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// ⌈log2 n⌉ steps; rank r takes one transfer for each power of two up to r, and gives one for each with
/// which it stays inside of the team. Needs links from r to r ± 2^k.
///
/// # Source
///
/// Hillis and Steele 1986.
pub fn doubling<F: Fabric>(
    fabric: &mut F,
    data: &mut [u8],
    upto: Upto,
    (first, second, incoming): (&mut F::Window<'_>, &mut F::Window<'_>, &mut [u8]),
    combine: &impl Combine,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let len = data.len();
    // The two places are used in turn: the sum is lent from one while the next sum is made in the other.
    copy::slice(fabric.view_mut(first, 0..len)?, data);
    let mut in_first = true;
    let steps = (0..usize::BITS).map(|bit| 1 << bit);
    for distance in steps.take_while(|&distance| distance < n) {
        if rank + distance < n {
            match in_first {
                true => protocol.give(fabric, first, rank + distance, 0..len)?,
                false => protocol.give(fabric, second, rank + distance, 0..len)?,
            }
        }
        if rank < distance {
            continue;
        }
        let step = Step {
            before: rank - distance,
            kept: match upto {
                Upto::Own => None,
                Upto::Before => Some((&mut *data, distance == 1)),
            },
        };
        if in_first {
            step.run(fabric, (first, second, len), incoming, combine, protocol)?;
        } else {
            step.run(fabric, (second, first, len), incoming, combine, protocol)?;
        }
        in_first = !in_first;
    }
    if upto == Upto::Own {
        let own = match in_first {
            true => fabric.view(first, 0..len),
            false => fabric.view(second, 0..len),
        };
        copy::slice(data, own);
    }
    fabric.flush()
}

/// The part of one step in which a rank takes and combines.
struct Step<'a> {
    before: usize,
    /// The result of an exclusive scan, and whether this step is the first to write it.
    kept: Option<(&'a mut [u8], bool)>,
}

impl Step<'_> {
    fn run<F: Fabric>(
        mut self,
        fabric: &mut F,
        (sum, next, len): (&F::Window<'_>, &mut F::Window<'_>, usize),
        incoming: &mut [u8],
        combine: &impl Combine,
        protocol: TransferProtocol,
    ) -> Result<(), F::Error> {
        let old = fabric.view(sum, 0..len);
        let new = fabric.view_mut(next, 0..len)?;
        protocol.take_with(fabric, self.before, len, incoming, |start, piece| {
            let range = start..start + piece.len();
            combine.combine_into(&mut new[range.clone()], piece, &old[range.clone()]);
            match &mut self.kept {
                Some((data, true)) => copy::slice(&mut data[range], piece),
                Some((data, false)) => combine.combine_left(&mut data[range], piece),
                None => {}
            }
        })
    }
}
