//! Broadcasts: one rank's data for all ranks.

mod algorithm;
mod binomial;
mod chain;
mod groups;
mod lent;
mod line;
mod scattered;
mod tree;

pub use algorithm::{Algorithm, choose, published};
pub use binomial::binomial;
pub use chain::chain;
pub use groups::groups;
pub use lent::lent;
pub use line::{AllLines, line};
pub use scattered::scattered;
pub use tree::tree;

use crate::context::OpContext;
use crate::pipeline::PipelineSegments;
use crate::registry::{Request, Selection, record};
use crate::transfer::TransferProtocol;
use corecast_wire::Fabric;
use corecast_wire::broadcast_ring::RING_PAYLOAD_BYTES;

/// Copies `root`'s `data` to all ranks, by the algorithm that the team chooses.
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline(always)]
pub fn start<F: Fabric>(
    context: &mut OpContext<F>,
    root: usize,
    data: &mut [u8],
    element: usize,
) -> Result<(), F::Error> {
    // For lengths at which no algorithm was asked for, this is what `choose` returns, without the time that it
    // takes.
    if context.published.contains(&data.len()) {
        return run_published(context, root, data);
    }
    if data.len() < context.short.broadcast {
        return run_short(context, root, data);
    }
    run_long(context, root, data, element)
}

/// Broadcasts data that fit one message, over the plan.
#[inline(always)]
fn run_short<F: Fabric>(
    context: &mut OpContext<F>,
    root: usize,
    data: &mut [u8],
) -> Result<(), F::Error> {
    let route = &context.schedule.broadcast;
    match &context.schedule.fan_out {
        Some(protocol) if data.len() <= RING_PAYLOAD_BYTES && root == route.root() => {
            record::ran(Algorithm::Groups.into());
            groups(&mut context.fabric, protocol, data)
        }
        _ => {
            record::ran(Algorithm::Messages.into());
            tree(&mut context.fabric, route, root, data)
        }
    }
}

#[inline(never)]
fn run_long<F: Fabric>(
    context: &mut OpContext<F>,
    root: usize,
    data: &mut [u8],
    element: usize,
) -> Result<(), F::Error> {
    let request = Request {
        element,
        root,
        ..Request::of_bytes(data.len())
    };
    let asked = context.schedule.asked.broadcast.at(data.len());
    let chosen = choose(asked, &request, context.traits());
    context.run_chosen(asked, chosen, &request, |context, selection| {
        run(selection, context, root, data, element)
    })
}

/// Copies `root`'s `data` to all ranks by one algorithm, which [serves](crate::registry::Entry::serves) the team, in
/// segments of its size.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Panics
///
/// If the team has no shared lines for an algorithm that needs some.
pub fn run<F: Fabric>(
    selection: Selection<Algorithm>,
    context: &mut OpContext<F>,
    root: usize,
    data: &mut [u8],
    element: usize,
) -> Result<(), F::Error> {
    let algorithm = selection.algorithm;
    match algorithm {
        Algorithm::Line => return run_published(context, root, data),
        Algorithm::Groups => return run_groups(context, data),
        Algorithm::Messages => return run_messages(context, root, data),
        _ => record::ran(selection),
    }
    let bytes = selection.size_or_built_in(context.fabric.size());
    let pipeline = match algorithm {
        Algorithm::Whole => PipelineSegments::Whole,
        Algorithm::Dynamic => PipelineSegments::Dynamic(bytes),
        _ => PipelineSegments::Fixed(bytes),
    };
    let shape = (data.len(), element);
    let route = &context.schedule.broadcast;
    let protocol = TransferProtocol::fitting(context.message_bytes, element);
    let written = context.fabric.rank() == root;
    let fabric = &mut context.fabric;
    fabric.with_window(data, element, written, |fabric, window| match algorithm {
        Algorithm::Binomial => binomial(fabric, root, window, shape, pipeline),
        Algorithm::Chain => chain(fabric, root, window, shape, pipeline),
        Algorithm::Scattered => scattered(fabric, root, window, shape, protocol),
        _ => lent(fabric, route, root, window, shape, pipeline),
    })
}

/// Broadcasts in published messages that all others read.
#[inline(always)]
fn run_published<F: Fabric>(
    context: &mut OpContext<F>,
    root: usize,
    data: &mut [u8],
) -> Result<(), F::Error> {
    record::ran(Algorithm::Line.into());
    let lines = context.schedule.all_lines.as_ref();
    let lines = lines.expect("each rank has a line for all others");
    let mut parts = PipelineSegments::Fixed(context.publish_bytes).of(data.len(), 1);
    parts.try_for_each(|part| line(&mut context.fabric, lines, root, &mut data[part]))
}

/// Broadcasts over the groups of the plan, from its root.
fn run_groups<F: Fabric>(context: &mut OpContext<F>, data: &mut [u8]) -> Result<(), F::Error> {
    record::ran(Algorithm::Groups.into());
    let protocol = context.schedule.fan_out.as_ref();
    let protocol = protocol.expect("the plan has groups");
    let mut parts = PipelineSegments::Fixed(RING_PAYLOAD_BYTES).of(data.len(), 1);
    parts.try_for_each(|part| groups(&mut context.fabric, protocol, &mut data[part]))
}

/// Broadcasts over the plan, in as many messages as needed.
fn run_messages<F: Fabric>(
    context: &mut OpContext<F>,
    root: usize,
    data: &mut [u8],
) -> Result<(), F::Error> {
    record::ran(Algorithm::Messages.into());
    for part in context.messages(data.len(), 1) {
        let route = &context.schedule.broadcast;
        tree(&mut context.fabric, route, root, &mut data[part])?;
    }
    Ok(())
}
