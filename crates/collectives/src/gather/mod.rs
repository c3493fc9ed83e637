//! Gathers: all ranks' data side by side, for one rank.

mod algorithm;
mod binomial;
mod direct;
mod put;
mod token;

pub use algorithm::{Algorithm, choose};
pub use binomial::binomial;
pub use direct::direct;
pub use put::{put, take_puts};
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

/// Gathers parts of one length, `send.len()` bytes of each rank, by the algorithm that the team chooses. Only the
/// root's `recv` is used.
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
    let len = send.len();
    let request = Request {
        element,
        root,
        ..Request::of_bytes(len)
    };
    let asked = context.schedule.asked.gather.at(len);
    let chosen = choose(asked, &request, context.traits());
    context.run_chosen(asked, chosen, &request, |context, selection| {
        run(selection, context, root, send, recv, equal(len), element)
    })
}

/// Gathers parts of any lengths: `part` says where in the root's `recv` they go, `send` is as long as this rank's.
///
/// # Errors
///
/// Returns the first error of the fabric.
pub fn start_parts<F: Fabric>(
    context: &mut OpContext<F>,
    root: usize,
    send: &[u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize> + Copy,
    element: usize,
) -> Result<(), F::Error> {
    let request = Request {
        root,
        ..Request::of_parts(element)
    };
    let asked = context.schedule.asked.gather.everywhere();
    let selection = choose(asked, &request, context.traits());
    match selection.algorithm {
        Algorithm::Binomial | Algorithm::Fixed => {
            record::ran(selection);
            let lens = announce(context, root, part, send.len())?;
            run_binomial(
                selection,
                context,
                root,
                send,
                recv,
                part,
                around(&lens, root),
            )
        }
        // No algorithm was asked for: both ends of a part choose between messages and a loan by its length.
        Algorithm::Pull | Algorithm::Put if asked != Some(selection) => {
            record::ran(selection);
            let traits = context.traits();
            let protocol = TransferProtocol::one_way(traits, element).overlapped(traits, element);
            match selection.algorithm {
                Algorithm::Put => {
                    let protocol = (protocol, context.traits().limits.put);
                    run_put(context, root, send, recv, part, (element, protocol))
                }
                _ => run_direct(context, root, send, recv, part, (element, protocol)),
            }
        }
        _ => run(selection, context, root, send, recv, part, element),
    }
}

/// Gathers parts by one algorithm, which [serves](crate::registry::Entry::serves) the team, with its size: `part` says where in
/// the root's `recv` they go. For the binomial algorithm all parts have the length of `send`.
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
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize> + Copy,
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
            run_direct(context, root, send, recv, part, (element, protocol))
        }
        Algorithm::Put => {
            let protocol = TransferProtocol::pull(context.message_bytes, element);
            run_put(context, root, send, recv, part, (element, (protocol, 0)))
        }
        Algorithm::Token => {
            let token_bytes = selection.size_or_built_in(context.fabric.size());
            let near = context.schedule.near(context.fabric.rank(), root);
            let (fabric, len) = (&mut context.fabric, send.len());
            fabric.with_window_to_read(send, element, |fabric, send| {
                let shape = (element, token_bytes);
                token_ring(fabric, root, (send, len), recv, part, near, shape)
            })
        }
        Algorithm::Binomial | Algorithm::Fixed => {
            let len = send.len();
            let size = |ranks: Range<usize>| ranks.len() * len;
            run_binomial(selection, context, root, send, recv, part, size)
        }
    }
}

#[inline]
fn run_direct<F: Fabric>(
    context: &mut OpContext<F>,
    root: usize,
    send: &[u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize>,
    (element, protocol): (usize, TransferProtocol),
) -> Result<(), F::Error> {
    let (fabric, len) = (&mut context.fabric, send.len());
    fabric.with_window_to_read(send, element, |fabric, send| {
        direct(fabric, root, (send, len), recv, part, protocol)
    })
}

#[inline]
fn run_put<F: Fabric>(
    context: &mut OpContext<F>,
    root: usize,
    send: &[u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize>,
    (element, protocol): (usize, (TransferProtocol, usize)),
) -> Result<(), F::Error> {
    let (fabric, len) = (&mut context.fabric, send.len());
    fabric.with_window_to_read(send, element, |fabric, send| {
        if fabric.rank() != root {
            return put(fabric, root, (send, len), protocol);
        }
        // Programs read the last result before the next one is written there.
        fabric.with_window(recv, element, true, |fabric, recv| {
            take_puts(fabric, (send, len), recv, part, protocol)
        })
    })
}

#[inline(never)]
fn run_binomial<F: Fabric>(
    selection: Selection<Algorithm>,
    context: &mut OpContext<F>,
    root: usize,
    send: &[u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize> + Copy,
    size: impl Fn(Range<usize>) -> usize + Copy,
) -> Result<(), F::Error> {
    let (rank, n) = (context.fabric.rank(), context.fabric.size());
    let bytes = selection.size_or_built_in(n);
    let pipeline = match selection.algorithm {
        Algorithm::Fixed => PipelineSegments::Fixed(bytes),
        _ => PipelineSegments::Whole,
    };
    // Parts are only moved here, so messages and segments may split elements.
    let segment = pipeline.bytes(size(0..n), 1);
    let protocol = TransferProtocol::fitting(context.message_bytes, 1);
    let cut = (size, segment);
    let room = Place::new(rank, root, n, cut).scratch_bytes(part);
    context.with_room(room, |fabric, _, _, scratch| {
        binomial(fabric, root, send, scratch, recv, part, cut, protocol)
    })
}
