//! Allgathers: all ranks' data side by side, for all ranks.

mod algorithm;
mod bruck;
mod direct;
mod ring;

pub use algorithm::{Algorithm, choose};
pub use bruck::bruck;
pub use direct::direct;
pub use ring::ring;

use crate::context::OpContext;
use crate::parts::equal;
use crate::registry::{Request, record};
use crate::transfer::TransferProtocol;
use crate::{broadcast, gather, short_copy};
use corecast_wire::{Fabric, copy, stream};
use std::ops::Range;

/// Gathers parts of one length, `send.len()` bytes of each rank, in each rank's `recv`, by the algorithm that the
/// team chooses.
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline]
pub fn start<F: Fabric>(
    context: &mut OpContext<F>,
    send: &[u8],
    recv: &mut [u8],
    element: usize,
) -> Result<(), F::Error> {
    let len = send.len();
    // What `choose` would return.
    if len < context.short.allgather {
        record::ran(Algorithm::Direct.into());
        return swapped(&mut context.fabric, send, recv, equal(len));
    }
    let request = Request {
        element,
        ..Request::of_bytes(len)
    };
    let asked = context.schedule.asked.allgather.at(len);
    let chosen = choose(asked, &request, context.traits());
    context.run_chosen(asked, chosen, &request, |context, selection| {
        if selection.algorithm == Algorithm::Direct
            && context.fabric.size() == 2
            && len <= context.message_bytes
        {
            record::ran(selection.algorithm.into());
            return swapped(&mut context.fabric, send, recv, equal(len));
        }
        run(
            selection.algorithm,
            context,
            send,
            recv,
            equal(len),
            element,
        )
    })
}

/// Gathers parts of any lengths: `part(rank)` is the place of that rank's part in `recv`.
///
/// # Errors
///
/// Returns the first error of the fabric.
pub fn start_parts<F: Fabric>(
    context: &mut OpContext<F>,
    send: &[u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize> + Copy,
    element: usize,
) -> Result<(), F::Error> {
    let len = send.len();
    let is_short = (1..context.short.allgather).contains(&len);
    if is_short && len == part(1 - context.fabric.rank()).len() {
        record::ran(Algorithm::Direct.into());
        return swapped(&mut context.fabric, send, recv, part);
    }
    let asked = context.schedule.asked.allgather.everywhere();
    let algorithm = choose(asked, &Request::of_parts(element), context.traits()).algorithm;
    run(algorithm, context, send, recv, part, element)
}

/// Gathers parts by one algorithm, which [serves](crate::registry::Entry::serves) the team and the request:
/// `part(rank)` is the place of that rank's part in `recv`.
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline]
pub fn run<F: Fabric>(
    algorithm: Algorithm,
    context: &mut OpContext<F>,
    send: &[u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize> + Copy,
    element: usize,
) -> Result<(), F::Error> {
    record::ran(algorithm.into());
    match algorithm {
        Algorithm::Trees => {
            let root = context.schedule.broadcast.root();
            gather::start(context, root, send, recv, element)?;
            broadcast::start(context, root, recv, element)
        }
        Algorithm::Bruck => {
            let protocol = TransferProtocol::fitting(context.message_bytes, element);
            let (fabric, len) = (&mut context.fabric, send.len());
            copy::slice(&mut recv[part(fabric.rank())], send);
            fabric.with_window(recv, element, true, |fabric, recv| {
                bruck(fabric, recv, len, protocol)
            })
        }
        Algorithm::Ring => run_ring(context, send, recv, part, element),
        Algorithm::Direct => run_direct(context, send, recv, part, element),
    }
}

/// Two ranks' parts of one length, which fits a message.
#[inline(always)]
fn swapped<F: Fabric>(
    fabric: &mut F,
    send: &[u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize>,
) -> Result<(), F::Error> {
    let (rank, peer) = (fabric.rank(), 1 - fabric.rank());
    short_copy::copy(&mut recv[part(rank)], send);
    fabric.swap(peer, send, &mut recv[part(peer)])
}

#[inline]
fn run_direct<F: Fabric>(
    context: &mut OpContext<F>,
    send: &[u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize>,
    element_size: usize,
) -> Result<(), F::Error> {
    let protocol = TransferProtocol::one_way(context.traits(), element_size);
    let len = send.len();
    let (fabric, longest) = (&mut context.fabric, context.message_bytes);
    if fabric.size() == 2 {
        let (rank, peer) = (fabric.rank(), 1 - fabric.rank());
        // What is sent and not lent needs no window, which takes a third of the time of a short exchange.
        if len.max(part(peer).len()) <= longest {
            fabric.send(peer, send)?;
            copy::slice(&mut recv[part(rank)], send);
            return fabric.receive(peer, &mut recv[part(peer)]);
        }
    }
    context
        .fabric
        .with_window_to_read(send, element_size, |fabric, send| {
            direct(fabric, (send, len), recv, part, protocol)
        })
}

fn run_ring<F: Fabric>(
    context: &mut OpContext<F>,
    send: &[u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize>,
    element_size: usize,
) -> Result<(), F::Error> {
    let protocol = TransferProtocol::fitting(context.message_bytes, element_size);
    let (own, all) = (part(context.fabric.rank()), recv.len());
    stream::copy(&mut recv[own], send, all);
    context
        .fabric
        .with_window(recv, element_size, true, |fabric, recv| {
            let rank = fabric.rank();
            ring(fabric, recv, part, rank, protocol)
        })
}
