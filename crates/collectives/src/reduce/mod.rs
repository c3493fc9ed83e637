//! Reductions: all ranks' data combined, for one rank.

mod algorithm;
mod lent;
mod ordered;
mod owners;
mod packages;
mod tree;

pub use algorithm::{Algorithm, choose};
pub use lent::{SCRATCH_SEGMENTS, lent};
pub use ordered::{ordered, ordered_lent, ordered_tree};
pub use owners::owners;
pub use packages::package_tree;
pub use tree::tree;

use crate::combine::Combine;
use crate::context::OpContext;
use crate::layout::RankSchedule;
use crate::pipeline::PipelineSegments;
use crate::registry::{Request, Selection, record};
use crate::route::Route;
use corecast_wire::{Fabric, copy};

/// Combines all ranks' `data` into that of `root`, by the algorithm that the team chooses.
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline(always)]
pub fn start<F: Fabric>(
    context: &mut OpContext<F>,
    root: usize,
    data: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    // For lengths at which no algorithm was asked for, this is what `choose` returns, without the time that it
    // takes.
    if data.len() < context.short.reduce {
        record::ran(Algorithm::Messages.into());
        return run_message(context, Algorithm::Messages, root, data, combine);
    }
    let (asked, request) = asked(context, data.len(), combine);
    let chosen = choose(asked, &request, context.traits());
    context.run_chosen(asked, chosen, &request, |context, selection| {
        run(selection, context, root, data, combine)
    })
}

/// Takes part in the reduction of [`start`] as a rank that is not the root. Its data are only read.
///
/// # Errors
///
/// Returns the first error of the fabric.
pub fn contribute<F: Fabric>(
    context: &mut OpContext<F>,
    root: usize,
    data: &[u8],
    combine: &dyn Combine,
) -> Result<(), F::Error> {
    let combine = &combine;
    debug_assert_ne!(
        context.fabric.rank(),
        root,
        "the root gets what all make together"
    );
    let (asked, request) = asked(context, data.len(), combine);
    let selection = choose(asked, &request, context.traits());
    let algorithm = selection.algorithm;
    record::ran(selection);
    if is_in_messages(context, algorithm, data.len()) {
        for part in context.messages(data.len(), combine.element_size()) {
            send_up(context, algorithm, root, &data[part], combine)?;
        }
        return Ok(());
    }
    let (len, element_size) = (data.len(), combine.element_size());
    if algorithm == Algorithm::Owners {
        let fabric = &mut context.fabric;
        return fabric.with_window_to_read(data, element_size, |fabric, window| {
            owners(fabric, root, window, len, combine)
        });
    }
    let room = scratch_bytes(context, len, pipeline(selection), combine);
    context.with_scratch(room, element_size, |fabric, schedule, _, scratch| {
        fabric.with_window_to_read(data, element_size, |fabric, window| {
            let buffers = (window, scratch);
            lend_up(fabric, schedule, selection, root, buffers, len, combine)
        })
    })
}

/// The algorithm that was asked for data of `len` bytes, and the request.
fn asked<F: Fabric>(
    context: &OpContext<F>,
    len: usize,
    combine: &impl Combine,
) -> (Option<Selection<Algorithm>>, Request) {
    let asked = context.schedule.asked.reduce.at(len);
    (asked, context.reduction(len, combine))
}

/// Combines all ranks' `data` into that of `root` by one algorithm, which
/// [serves](crate::registry::Entry::serves) the team, in segments of its size. All operators share its code, see
/// [`Combine`].
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline(never)]
pub fn run<F: Fabric>(
    selection: Selection<Algorithm>,
    context: &mut OpContext<F>,
    root: usize,
    data: &mut [u8],
    combine: &dyn Combine,
) -> Result<(), F::Error> {
    record::ran(selection);
    let combine = &combine;
    let algorithm = selection.algorithm;
    let (len, element_size) = (data.len(), combine.element_size());
    if is_in_messages(context, algorithm, len) {
        for part in context.messages(len, element_size) {
            run_message(context, algorithm, root, &mut data[part], combine)?;
        }
        return Ok(());
    }
    if algorithm == Algorithm::Owners {
        let fabric = &mut context.fabric;
        return fabric.with_window(data, element_size, true, |fabric, window| {
            owners(fabric, root, window, len, combine)
        });
    }
    let room = scratch_bytes(context, len, pipeline(selection), combine);
    context.with_scratch(room, element_size, |fabric, schedule, _, scratch| {
        fabric.with_window(data, element_size, true, |fabric, window| {
            let buffers = (window, scratch);
            lend_up(fabric, schedule, selection, root, buffers, len, combine)
        })
    })
}

/// Whether an algorithm sends data of this length in messages; else ranks lend them.
fn is_in_messages<F: Fabric>(context: &OpContext<F>, algorithm: Algorithm, len: usize) -> bool {
    match algorithm {
        Algorithm::Messages => true,
        Algorithm::Packages => len <= context.message_bytes,
        _ => false,
    }
}

/// The tree of an algorithm that need not keep the order of ranks.
#[inline(always)]
fn route(schedule: &RankSchedule, algorithm: Algorithm) -> &Route {
    match algorithm {
        Algorithm::Packages => {
            let packages = schedule.packages.as_ref();
            packages.expect("teams that are asked for packages have their tree")
        }
        _ => &schedule.reduce,
    }
}

/// Combines data that fit one message.
#[inline(always)]
fn run_message<F: Fabric>(
    context: &mut OpContext<F>,
    algorithm: Algorithm,
    root: usize,
    data: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    if context.fabric.rank() != root {
        return send_up(context, algorithm, root, data, combine);
    }
    let (fabric, schedule, _, incoming) = context.for_messages(data.len());
    up(fabric, schedule, algorithm, root, data, incoming, combine)
}

/// Combines all ranks' `sum` into the root's, in the order of ranks if that must be kept.
#[inline(always)]
fn up<F: Fabric>(
    fabric: &mut F,
    schedule: &RankSchedule,
    algorithm: Algorithm,
    root: usize,
    sum: &mut [u8],
    incoming: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    if schedule.keeps_order(combine) {
        ordered(fabric, &schedule.ordered, root, sum, incoming, combine)
    } else {
        tree(
            fabric,
            route(schedule, algorithm),
            root,
            sum,
            incoming,
            combine,
        )
    }
}

/// Takes part as a rank that is not the root, with data that fit one message.
#[inline(always)]
fn send_up<F: Fabric>(
    context: &mut OpContext<F>,
    algorithm: Algorithm,
    root: usize,
    data: &[u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    let (fabric, schedule, sum, incoming) = context.for_messages(data.len());
    // The tree that keeps the order of ranks has rank 0 at its top, whatever the root.
    let (route, top) = match schedule.keeps_order(combine) {
        true => (&schedule.ordered, 0),
        false => (route(schedule, algorithm), root),
    };
    // A leaf combines nothing, so it sends its data as they are.
    if let (None, Some(parent)) = (route.inward(top).next(), route.toward(top)) {
        return fabric.send(parent, data);
    }
    copy::slice(sum, data);
    up(fabric, schedule, algorithm, root, sum, incoming, combine)
}

fn pipeline(selection: Selection<Algorithm>) -> PipelineSegments {
    // No size depends on the number of ranks here.
    let bytes = selection.size_or_built_in(0);
    match selection.algorithm {
        Algorithm::Whole => PipelineSegments::Whole,
        Algorithm::Dynamic => PipelineSegments::Dynamic(bytes),
        _ => PipelineSegments::Fixed(bytes),
    }
}

/// Bytes of scratch for partial results that ranks pass on; 0 where none does.
fn scratch_bytes<F: Fabric>(
    context: &OpContext<F>,
    len: usize,
    pipeline: PipelineSegments,
    combine: &impl Combine,
) -> usize {
    match context.schedule.len() > 2 || context.schedule.keeps_order(combine) {
        true => {
            let segment = pipeline.bytes(len, combine.element_size());
            SCRATCH_SEGMENTS.min(len.div_ceil(segment)) * segment
        }
        false => 0,
    }
}

fn lend_up<F: Fabric>(
    fabric: &mut F,
    schedule: &RankSchedule,
    selection: Selection<Algorithm>,
    root: usize,
    buffers: (&mut F::Window<'_>, &mut F::Window<'_>),
    len: usize,
    combine: &impl Combine,
) -> Result<(), F::Error> {
    let pipeline = pipeline(selection);
    if schedule.keeps_order(combine) {
        let route = &schedule.ordered;
        ordered_lent(fabric, route, root, buffers, len, pipeline, combine)
    } else {
        let route = route(schedule, selection.algorithm);
        lent(fabric, route, root, buffers, len, pipeline, combine)
    }
}
