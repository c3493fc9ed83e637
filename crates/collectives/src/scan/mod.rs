//! Scans: each rank gets the combined data of all ranks up to its own, or up to the one before.

mod algorithm;
mod chain;
mod doubling;
mod upto;

pub(crate) use algorithm::is_chain;
pub use algorithm::{Algorithm, choose};
pub use chain::{chain, chain_message};
pub use doubling::doubling;
pub use upto::Upto;

use crate::combine::Combine;
use crate::context::OpContext;
use crate::pipeline::PipelineSegments;
use crate::registry::{Selection, record};
use crate::transfer::TransferProtocol;
use corecast_wire::Fabric;

/// Combines the `data` of the ranks `upto` each rank into that rank's, by the algorithm that the team chooses.
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline]
pub fn start<F: Fabric>(
    context: &mut OpContext<F>,
    data: &mut [u8],
    upto: Upto,
    combine: &impl Combine,
) -> Result<(), F::Error> {
    // For lengths at which no algorithm was asked for, this is what `choose` returns, without the time that it
    // takes.
    if data.len() < context.short.scan {
        record::ran(Algorithm::Chain.into());
        return run_message(context, data, upto, combine);
    }
    let asked = context.schedule.asked.scan.at(data.len());
    let request = context.reduction(data.len(), combine);
    let chosen = choose(asked, &request, context.traits());
    context.run_chosen(asked, chosen, &request, |context, selection| {
        run(selection, context, data, upto, combine)
    })
}

/// Does what [`start`] does by one algorithm, which [serves](crate::registry::Entry::serves) the team, in segments of
/// its size. All operators share its code, see [`Combine`].
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline(never)]
pub fn run<F: Fabric>(
    selection: Selection<Algorithm>,
    context: &mut OpContext<F>,
    data: &mut [u8],
    upto: Upto,
    combine: &dyn Combine,
) -> Result<(), F::Error> {
    record::ran(selection);
    let combine = &combine;
    let (len, element_size) = (data.len(), combine.element_size());
    let protocol = TransferProtocol::fitting(context.message_bytes, element_size).to_combine();
    let bytes = selection.size_or_built_in(context.fabric.size());
    let pipeline = PipelineSegments::Fixed(bytes);
    let room = pipeline.bytes(len, element_size).min(len);
    if selection.algorithm == Algorithm::Chain && len <= context.message_bytes {
        return run_message(context, data, upto, combine);
    }
    let (fabric, _, incoming, scratch) = context.rooms(2 * room);
    if selection.algorithm == Algorithm::Doubling {
        let (first, second) = scratch.split_at_mut(room);
        return fabric.with_window(first, element_size, false, |fabric, first| {
            fabric.with_window(second, element_size, false, |fabric, second| {
                for part in pipeline.of(len, element_size) {
                    let buffers = (&mut *first, &mut *second, &mut *incoming);
                    doubling(fabric, &mut data[part], upto, buffers, combine, protocol)?;
                }
                Ok(())
            })
        });
    }
    fabric.with_window(scratch, element_size, false, |fabric, scratch| {
        fabric.with_window(data, element_size, true, |fabric, window| {
            let buffers = (window, (scratch, room), incoming);
            chain(fabric, buffers, len, pipeline, upto, combine, protocol)
        })
    })
}

/// Passes on data that fit one message along the ranks.
#[inline(always)]
fn run_message<F: Fabric>(
    context: &mut OpContext<F>,
    data: &mut [u8],
    upto: Upto,
    combine: &impl Combine,
) -> Result<(), F::Error> {
    let (fabric, _, sum, incoming) = context.for_messages(data.len());
    chain_message(fabric, data, (sum, incoming), upto, combine)
}
