//! Allreductions: all ranks' data combined, for all ranks.

mod algorithm;
mod direct;
mod doubling;
mod exchange;
mod owners;
mod rabenseifner;
mod ring;
mod tree;

pub(crate) use algorithm::short;
pub use algorithm::{Algorithm, choose};
pub use direct::direct;
pub use doubling::{doubling, doubling_in_messages};
pub use exchange::{combine_two, exchange};
pub use owners::{owners, owners_ordered};
pub use rabenseifner::rabenseifner;
pub use ring::ring;
pub use tree::tree;

use crate::combine::Combine;
use crate::context::OpContext;
use crate::pipeline::PipelineSegments;
use crate::reduce_scatter::PIECE_BYTES;
use crate::reduction_order::ReductionOrder;
use crate::registry::{Selection, record};
use crate::transfer::TransferProtocol;
use crate::{broadcast, reduce};
use corecast_wire::{Fabric, VALUE_BYTES_MAX};

/// Combines all ranks' `data` into each of them, by the algorithm that the team chooses.
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline(always)]
pub fn start<F: Fabric>(
    context: &mut OpContext<F>,
    data: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    // For lengths at which no algorithm was asked for, this is what `choose` returns, without the time that it
    // takes.
    if data.len() < context.short.allreduce {
        record::ran(Algorithm::Messages.into());
        return run_message(context, data, combine);
    }
    let len = data.len();
    let asked = context.schedule.asked.allreduce.at(len);
    let request = context.reduction(len, combine);
    let chosen = choose(asked, &request, context.traits());
    context.run_chosen(asked, chosen, &request, |context, selection| {
        run(selection, context, data, combine)
    })
}

/// Whether two ranks allreduce data of this length by giving each other a word, for which a fabric may have a shorter way.
#[inline(always)]
pub fn is_word<F>(context: &OpContext<F>, len: usize) -> bool {
    len <= VALUE_BYTES_MAX && len < context.short.allreduce
}

/// Records what the fabric runs by itself where [`is_word`].
#[inline(always)]
pub fn ran_word() {
    record::ran(Algorithm::Messages.into());
}

/// Combines all ranks' `data` into each of them by one algorithm, which [serves](crate::registry::Entry::serves)
/// the team, in segments of its size. All operators share its code, see [`Combine`].
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline(never)]
pub fn run<F: Fabric>(
    selection: Selection<Algorithm>,
    context: &mut OpContext<F>,
    data: &mut [u8],
    combine: &dyn Combine,
) -> Result<(), F::Error> {
    record::ran(selection);
    let combine = &combine;
    let algorithm = selection.algorithm;
    match algorithm {
        Algorithm::Messages => {
            for part in context.messages(data.len(), combine.element_size()) {
                run_message(context, &mut data[part], combine)?;
            }
            Ok(())
        }
        Algorithm::Trees => {
            let root = context.schedule.broadcast.root();
            reduce::start(context, root, data, combine)?;
            broadcast::start(context, root, data, combine.element_size())
        }
        Algorithm::Doubling => {
            let bytes = selection.size_or_built_in(context.fabric.size());
            if data.len() <= bytes.min(context.message_bytes) {
                let (fabric, _, _, incoming) = context.for_messages(data.len());
                return doubling_in_messages(fabric, data, incoming, combine);
            }
            run_doubling(context, data, combine, PipelineSegments::Fixed(bytes))
        }
        Algorithm::Owners | Algorithm::Rabenseifner | Algorithm::Ring => {
            run_blocks(context, data, combine, algorithm)
        }
        Algorithm::Direct => {
            for part in context.messages(data.len(), combine.element_size()) {
                let data = &mut data[part];
                let room = ReductionOrder::bytes(data.len(), context.fabric.size());
                let (fabric, _, incoming, stack) = context.rooms(room);
                direct(fabric, data, &mut incoming[..data.len()], stack, combine)?;
            }
            Ok(())
        }
    }
}

/// Combines data that fit one message.
#[inline(always)]
fn run_message<F: Fabric>(
    context: &mut OpContext<F>,
    data: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    if context.fabric.size() != 2 {
        return run_message_of_many(context, data, combine);
    }
    if data.len() <= VALUE_BYTES_MAX {
        // What fits a word stays in registers. It is aligned for any element, as none may be longer.
        let mut word = 0_u128;
        let incoming = &mut bytemuck::bytes_of_mut(&mut word)[..data.len()];
        return exchange(&mut context.fabric, data, incoming, combine);
    }
    let (fabric, _, _, incoming) = context.for_messages(data.len());
    exchange(fabric, data, incoming, combine)
}

/// Combines data that fit one message, of more than two ranks.
#[inline(never)]
fn run_message_of_many<F: Fabric>(
    context: &mut OpContext<F>,
    data: &mut [u8],
    combine: &dyn Combine,
) -> Result<(), F::Error> {
    let (fabric, schedule, _, incoming) = context.for_messages(data.len());
    if schedule.keeps_order(&combine) {
        let root = schedule.broadcast.root();
        reduce::ordered(fabric, &schedule.ordered, root, data, incoming, combine)?;
        broadcast::tree(fabric, &schedule.broadcast, root, data)
    } else {
        let (fan_in, fan_out) = (&schedule.reduce, &schedule.broadcast);
        tree(fabric, fan_in, fan_out, data, incoming, &combine)
    }
}

/// Combines one pipeline segment after another, so that each fits the scratch.
fn run_doubling<F: Fabric>(
    context: &mut OpContext<F>,
    data: &mut [u8],
    combine: &impl Combine,
    pipeline: PipelineSegments,
) -> Result<(), F::Error> {
    let (len, element_size) = (data.len(), combine.element_size());
    let protocol = TransferProtocol::fitting(context.message_bytes, element_size).to_combine();
    let room = pipeline.bytes(len, element_size).min(len);
    for part in pipeline.of(len, element_size) {
        context.with_scratch(room, element_size, |fabric, _, incoming, scratch| {
            let data = &mut data[part];
            let len = data.len();
            fabric.with_window(data, element_size, true, |fabric, window| {
                doubling(fabric, (window, scratch, len), incoming, combine, protocol)
            })
        })?;
    }
    Ok(())
}

/// Runs the algorithms that cut the data into a block for each rank.
fn run_blocks<F: Fabric>(
    context: &mut OpContext<F>,
    data: &mut [u8],
    combine: &impl Combine,
    algorithm: Algorithm,
) -> Result<(), F::Error> {
    let (len, element_size, n) = (data.len(), combine.element_size(), context.fabric.size());
    let keeps_order = context.schedule.keeps_order(combine);
    let message_bytes = context.message_bytes;
    let piece = (PIECE_BYTES / element_size * element_size).max(element_size);
    let room = match algorithm {
        Algorithm::Owners if keeps_order && n > 2 => ReductionOrder::bytes(piece, n),
        _ => 0,
    };
    let (fabric, _, incoming, scratch) = context.rooms(room);
    fabric.with_window(data, element_size, true, |fabric, window| match algorithm {
        Algorithm::Rabenseifner => {
            let protocol = TransferProtocol::fitting(message_bytes, element_size);
            rabenseifner(fabric, window, len, incoming, combine, protocol)
        }
        Algorithm::Ring => {
            let protocol = TransferProtocol::fitting(message_bytes, element_size);
            ring(fabric, window, len, incoming, combine, protocol)
        }
        _ if room > 0 => owners_ordered(fabric, window, len, scratch, combine, piece),
        _ => owners(fabric, window, len, combine),
    })
}
