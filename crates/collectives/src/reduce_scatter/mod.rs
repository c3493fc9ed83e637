//! Reduce-scatters: reductions of which each rank gets a block of the result.

mod algorithm;
mod halving;
mod owners;
mod ring;

pub use algorithm::{Algorithm, choose};
pub use halving::halving;
pub use owners::{PIECE_BYTES, owners, owners_ordered};
pub use ring::ring;

use crate::combine::Combine;
use crate::context::{OpContext, SCRATCH_BYTES};
use crate::parts::slice;
use crate::reduce;
use crate::reduction_order::ReductionOrder;
use crate::registry::record;
use crate::transfer::TransferProtocol;
use corecast_wire::{Fabric, copy};
use std::ops::Range;

/// Combines all ranks' `send`, of which each rank gets a block, by the algorithm that the team chooses: `block`
/// says where in `send` each rank's block is, `recv` is as long as this rank's.
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline]
pub fn start<F: Fabric>(
    context: &mut OpContext<F>,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize> + Copy,
    recv: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    let bytes = send.len().div_ceil(context.fabric.size());
    let asked = context.schedule.asked.reduce_scatter.at(bytes);
    let request = context.reduction(bytes, combine);
    let chosen = choose(asked, &request, context.traits());
    context.run_chosen(asked, chosen, &request, |context, selection| {
        run(selection.algorithm, context, send, block, recv, combine)
    })
}

/// Does what [`start`] does by one algorithm, which [serves](crate::registry::Entry::serves) the team. All operators
/// share the code of all algorithms but one, see [`Combine`].
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline]
pub fn run<F: Fabric>(
    algorithm: Algorithm,
    context: &mut OpContext<F>,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize> + Copy,
    recv: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    record::ran(algorithm.into());
    if algorithm == Algorithm::Owners && !context.schedule.keeps_order(combine) {
        return run_owners(context, send, block, recv, combine);
    }
    run_shared(algorithm, context, send, block, recv, combine)
}

/// What is not [`owners`], the one algorithm for the shortest blocks.
#[inline(never)]
fn run_shared<F: Fabric>(
    algorithm: Algorithm,
    context: &mut OpContext<F>,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize> + Copy,
    recv: &mut [u8],
    combine: &dyn Combine,
) -> Result<(), F::Error> {
    let combine = &combine;
    match algorithm {
        Algorithm::Owners => run_ordered(context, send, block, recv, combine),
        Algorithm::Ring => run_ring(context, send, block, recv, combine),
        Algorithm::Halving => run_halving(context, send, block, recv, combine),
        Algorithm::Trees => run_trees(context, send, block, recv, combine),
    }
}

#[inline]
fn run_owners<F: Fabric>(
    context: &mut OpContext<F>,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    let element_size = combine.element_size();
    let protocol = TransferProtocol::fitting(context.message_bytes, element_size).to_combine();
    let (fabric, _, incoming, _) = context.rooms(0);
    fabric.with_window_to_read(send, element_size, |fabric, send| {
        owners(fabric, send, block, recv, incoming, combine, protocol)
    })
}

fn run_ordered<F: Fabric>(
    context: &mut OpContext<F>,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    let element_size = combine.element_size();
    let protocol = TransferProtocol::fitting(context.message_bytes, element_size).to_combine();
    let piece = (PIECE_BYTES / element_size * element_size).max(element_size);
    let room = ReductionOrder::bytes(piece, context.fabric.size());
    let (fabric, _, incoming, stack) = context.rooms(room);
    fabric.with_window_to_read(send, element_size, |fabric, send| {
        let buffers = (incoming, stack);
        owners_ordered(
            fabric,
            send,
            block,
            recv,
            buffers,
            combine,
            (protocol, piece),
        )
    })
}

/// Runs the ring over slices of all blocks, one after another, so that each fits the scratch.
fn run_ring<F: Fabric>(
    context: &mut OpContext<F>,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    let (element_size, n) = (combine.element_size(), context.fabric.size());
    let protocol = TransferProtocol::fitting(context.message_bytes, element_size).to_combine();
    let longest = (0..n).map(|owner| block(owner).len()).max().unwrap_or(0);
    let once = (SCRATCH_BYTES / 4 / element_size * element_size).max(element_size);
    for start in (0..longest.max(1)).step_by(once) {
        let room = once.min(longest - start);
        let within = |part| slice(part, start, room);
        let into = within(0..recv.len());
        context.with_scratch(2 * room, element_size, |fabric, _, incoming, scratch| {
            let (block, recv) = (|owner| within(block(owner)), &mut recv[into]);
            let buffers = ((scratch, room), incoming);
            ring(fabric, send, block, recv, buffers, combine, protocol)
        })?;
    }
    Ok(())
}

fn run_halving<F: Fabric>(
    context: &mut OpContext<F>,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    let element_size = combine.element_size();
    let protocol = TransferProtocol::fitting(context.message_bytes, element_size).to_combine();
    context.with_scratch(send.len(), element_size, |fabric, _, incoming, scratch| {
        halving(
            fabric,
            send,
            block,
            recv,
            (scratch, incoming),
            combine,
            protocol,
        )
    })
}

fn run_trees<F: Fabric>(
    context: &mut OpContext<F>,
    send: &[u8],
    block: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    for owner in 0..context.fabric.size() {
        if owner == context.fabric.rank() {
            copy::slice(recv, &send[block(owner)]);
            reduce::start(context, owner, recv, combine)?;
        } else {
            reduce::contribute(context, owner, &send[block(owner)], combine)?;
        }
    }
    Ok(())
}
