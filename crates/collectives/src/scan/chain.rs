//! A scan along the ranks, one after another: each takes the result of the rank before, and passes it on with its
//! own data.

use super::upto::Upto;
use crate::combine::Combine;
use crate::pipeline::PipelineSegments;
use crate::transfer::TransferProtocol;
use corecast_wire::{Fabric, copy};

/// Combines the `len` bytes of all ranks `upto` this one into this rank's window, in the order of reduction
/// ((0 ∘ 1) ∘ 2) ∘ 3 … Buffers: the data's window; scratch for two pipeline segments and the bytes of one; room for a
/// message.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 transfers for each pipeline segment, one after another; the pipeline segments follow each other through the
/// ranks. Needs links from r to r ± 1.
pub fn chain<F: Fabric>(
    fabric: &mut F,
    (window, (scratch, room), incoming): (
        &mut F::Window<'_>,
        (&mut F::Window<'_>, usize),
        &mut [u8],
    ),
    len: usize,
    pipeline: PipelineSegments,
    upto: Upto,
    combine: &impl Combine,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let before = rank.checked_sub(1);
    let after = Some(rank + 1).filter(|&rank| rank < n);
    for (index, part) in pipeline.of(len, combine.element_size()).enumerate() {
        let bytes = part.len();
        let place = index % 2 * room..index % 2 * room + bytes;
        let from_scratch = match (before, upto) {
            (None, _) => false,
            (Some(before), Upto::Own) => {
                let mine = fabric.view_mut(window, part.clone())?;
                protocol.take_with(fabric, before, bytes, incoming, |start, piece| {
                    combine.combine_left(&mut mine[start..start + piece.len()], piece);
                })?;
                false
            }
            (Some(before), Upto::Before) if after.is_none() => {
                let mine = fabric.view_mut(window, part.clone())?;
                protocol.take(fabric, before, mine)?;
                false
            }
            (Some(before), Upto::Before) => {
                // `sum` is passed on, `mine` is kept.
                let sum = fabric.view_mut(scratch, place.clone())?;
                let mine = fabric.view_mut(window, part.clone())?;
                protocol.take_with(fabric, before, bytes, incoming, |start, piece| {
                    let range = start..start + piece.len();
                    let mine = &mut mine[range.clone()];
                    combine.combine_into(&mut sum[range], piece, mine);
                    copy::slice(mine, piece);
                })?;
                true
            }
        };
        match after {
            None => {}
            Some(after) if from_scratch => protocol.give(fabric, scratch, after, place)?,
            Some(after) => protocol.give(fabric, window, after, part)?,
        }
    }
    fabric.flush()
}

/// What [`chain`] does, for data that fit one message. Buffers: a sum and a message, each as long as `data`.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 messages, one after another; a member that only sends waits for nobody.
#[inline(always)]
pub fn chain_message<F: Fabric>(
    fabric: &mut F,
    data: &mut [u8],
    (sum, incoming): (&mut [u8], &mut [u8]),
    upto: Upto,
    combine: &impl Combine,
) -> Result<(), F::Error> {
    let (rank, after) = (fabric.rank(), fabric.rank() + 1);
    let is_last = after == fabric.size();
    let mut passed_on = &*data;
    if rank > 0 {
        fabric.receive(rank - 1, incoming)?;
        match upto {
            Upto::Own => combine.combine_left(data, incoming),
            Upto::Before => {
                if !is_last {
                    combine.combine_into(sum, incoming, data);
                }
                copy::slice(data, incoming);
            }
        }
        passed_on = match upto {
            Upto::Own => data,
            Upto::Before => sum,
        };
    }
    match is_last {
        true => Ok(()),
        false => fabric.send(after, passed_on),
    }
}
