//! Scatters: each rank gets a part of one rank's data.

mod algorithm;
mod binomial;
mod direct;
mod token;

pub use crate::token::TOKEN_BYTES;
pub use algorithm::{Algorithm, choose};
pub use binomial::binomial;
pub use direct::direct;
pub use token::token_ring;

use crate::binomial_segments::Place;
use crate::context::OpContext;
use crate::part_lengths::{announce, around};
use crate::parts::equal;
use crate::pipeline::PipelineSegments;
use crate::registry::{Request, Selection, record};
use crate::transfer::TransferProtocol;
use corecast_wire::Fabric;
use std::ops::Range;

/// Scatters parts of one length, `recv.len()` bytes for each rank, by the algorithm that the team chooses.
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline]
pub fn start<F: Fabric>(
    context: &mut OpContext<F>,
    root: usize,
    send: &[u8],
    recv: &mut [u8],
    element: usize,
) -> Result<(), F::Error> {
    let len = recv.len();
    let request = Request {
        element,
        root,
        ..Request::of_bytes(len)
    };
    let asked = context.schedule.asked.scatter.at(len);
    let chosen = choose(asked, &request, context.traits());
    context.run_chosen(asked, chosen, &request, |context, selection| {
        run(selection, context, root, send, equal(len), recv, element)
    })
}

/// Scatters parts of any lengths: `part` says where the root's `send` has them, `recv` is as long as this rank's.
///
/// # Errors
///
/// Returns the first error of the fabric.
pub fn start_parts<F: Fabric>(
    context: &mut OpContext<F>,
    root: usize,
    send: &[u8],
    part: impl Fn(usize) -> Range<usize> + Copy,
    recv: &mut [u8],
    element: usize,
) -> Result<(), F::Error> {
    let request = Request {
        root,
        ..Request::of_parts(element)
    };
    let asked = context.schedule.asked.scatter.everywhere();
    let selection = choose(asked, &request, context.traits());
    match selection.algorithm {
        Algorithm::Binomial | Algorithm::Fixed | Algorithm::Dynamic => {
            record::ran(selection);
            let lens = announce(context, root, part, recv.len())?;
            run_binomial(
                selection,
                context,
                root,
                send,
                part,
                recv,
                around(&lens, root),
            )
        }
        // No algorithm was asked for: both ends of a part choose between messages and a loan by its length.
        Algorithm::Pull if asked != Some(selection) => {
            record::ran(Algorithm::Pull.into());
            let traits = context.traits();
            let protocol = TransferProtocol::one_way(traits, element).overlapped(traits, element);
            run_direct(context, root, send, part, recv, (element, protocol))
        }
        _ => run(selection, context, root, send, part, recv, element),
    }
}

/// Scatters parts by one algorithm, which [serves](crate::registry::Entry::serves) the team, with its size: `part` says where the
/// root has them. For the binomial algorithm all parts have the length of `recv`.
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline]
pub fn run<F: Fabric>(
    selection: Selection<Algorithm>,
    context: &mut OpContext<F>,
    root: usize,
    send: &[u8],
    part: impl Fn(usize) -> Range<usize> + Copy,
    recv: &mut [u8],
    element: usize,
) -> Result<(), F::Error> {
    record::ran(selection);
    let algorithm = selection.algorithm;
    match algorithm {
        Algorithm::Push | Algorithm::Pull => {
            let protocol = match algorithm {
                Algorithm::Push => TransferProtocol::push(context.message_bytes, element),
                _ => TransferProtocol::pull(context.message_bytes, element)
                    .overlapped(context.traits(), element),
            };
            run_direct(context, root, send, part, recv, (element, protocol))
        }
        Algorithm::Token => {
            let token_bytes = selection.size_or_built_in(context.fabric.size());
            let near = context.schedule.near(context.fabric.rank(), root);
            let fabric = &mut context.fabric;
            fabric.with_window_to_read(send, element, |fabric, send| {
                let shape = (element, token_bytes);
                token_ring(fabric, root, send, part, recv, near, shape)
            })
        }
        Algorithm::Binomial | Algorithm::Fixed | Algorithm::Dynamic => {
            let len = recv.len();
            let size = |ranks: Range<usize>| ranks.len() * len;
            run_binomial(selection, context, root, send, part, recv, size)
        }
    }
}

#[inline]
fn run_direct<F: Fabric>(
    context: &mut OpContext<F>,
    root: usize,
    send: &[u8],
    part: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    (element, protocol): (usize, TransferProtocol),
) -> Result<(), F::Error> {
    let fabric = &mut context.fabric;
    fabric.with_window_to_read(send, element, |fabric, send| {
        direct(fabric, root, send, part, recv, protocol)
    })
}

#[inline(never)]
fn run_binomial<F: Fabric>(
    selection: Selection<Algorithm>,
    context: &mut OpContext<F>,
    root: usize,
    send: &[u8],
    part: impl Fn(usize) -> Range<usize> + Copy,
    recv: &mut [u8],
    size: impl Fn(Range<usize>) -> usize + Copy,
) -> Result<(), F::Error> {
    let (rank, n) = (context.fabric.rank(), context.fabric.size());
    let bytes = selection.size_or_built_in(n);
    let pipeline = match selection.algorithm {
        Algorithm::Fixed => PipelineSegments::Fixed(bytes),
        Algorithm::Dynamic => PipelineSegments::Dynamic(bytes),
        _ => PipelineSegments::Whole,
    };
    // Parts are only moved here, so messages and segments may split elements.
    let segment = pipeline.bytes(size(0..n), 1);
    let protocol = TransferProtocol::fitting(context.message_bytes, 1);
    let cut = (size, segment);
    let room = Place::new(rank, root, n, cut).scratch_bytes(part);
    context.with_room(room, |fabric, _, _, scratch| {
        binomial(fabric, root, send, part, scratch, recv, cut, protocol)
    })
}
