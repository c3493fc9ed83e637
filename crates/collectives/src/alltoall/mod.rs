//! All-to-alls: each rank gives a part of its data to each rank.

mod algorithm;
mod bruck;
mod direct;
mod padded;

pub use algorithm::{Algorithm, choose};
pub use bruck::bruck;
pub use direct::{direct, direct_in_messages};

use crate::context::{OpContext, SCRATCH_BYTES};
use crate::parts::{equal, slice};
use crate::registry::{Request, record};
use crate::short_copy;
use crate::transfer::TransferProtocol;
use corecast_wire::Fabric;
use std::ops::Range;

/// Exchanges parts of one length, by the algorithm that the team chooses: both buffers have n times `len` bytes.
///
/// # Errors
///
/// Returns the first error of the fabric.
#[inline]
pub fn start<F: Fabric>(
    context: &mut OpContext<F>,
    send: &[u8],
    recv: &mut [u8],
    len: usize,
    element: usize,
) -> Result<(), F::Error> {
    // What `choose` would return.
    if len < context.short.alltoall {
        record::ran(Algorithm::Direct.into());
        let part = equal(len);
        return swapped(&mut context.fabric, send, part, recv, part);
    }
    let request = Request {
        element,
        ..Request::of_bytes(len)
    };
    let asked = context.schedule.asked.alltoall.at(len);
    let chosen = choose(asked, &request, context.traits());
    context.run_chosen(asked, chosen, &request, |context, selection| {
        run(selection.algorithm, context, send, recv, len, element)
    })
}

/// Exchanges parts of any lengths: `give(peer)` is the place in `send` of the part for a peer, `take(peer)` the
/// place in `recv` of the part from it.
///
/// # Errors
///
/// Returns the first error of the fabric.
pub fn start_parts<F: Fabric>(
    context: &mut OpContext<F>,
    send: &[u8],
    give: impl Fn(usize) -> Range<usize> + Copy,
    recv: &mut [u8],
    take: impl Fn(usize) -> Range<usize> + Copy,
    element: usize,
) -> Result<(), F::Error> {
    // Both of two ranks know both lengths, so that both find that they are equal.
    if context.short.alltoall > 0 {
        let peer = 1 - context.fabric.rank();
        let (given, taken) = (give(peer).len(), take(peer).len());
        if given == taken && (1..context.short.alltoall).contains(&given) {
            record::ran(Algorithm::Direct.into());
            return swapped(&mut context.fabric, send, give, recv, take);
        }
    }
    let algorithm = choose(None, &Request::of_parts(element), context.traits()).algorithm;
    record::ran(algorithm.into());
    match algorithm {
        Algorithm::Direct => run_direct(context, send, give, recv, take, element),
        Algorithm::Bruck => {
            let longest = padded::longest(context, give, take)?;
            run_bruck(context, send, give, recv, take, longest)
        }
    }
}

/// Exchanges parts of one length by one algorithm, which [serves](crate::registry::Entry::serves) the team.
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
    len: usize,
    element: usize,
) -> Result<(), F::Error> {
    record::ran(algorithm.into());
    let part = equal(len);
    match algorithm {
        Algorithm::Direct if context.fabric.size() == 2 && len <= context.message_bytes => {
            swapped(&mut context.fabric, send, part, recv, part)
        }
        Algorithm::Direct => run_direct(context, send, part, recv, part, element),
        Algorithm::Bruck => run_bruck(context, send, part, recv, part, len),
    }
}

/// Two ranks' parts, of which those that they give each other have one length, which fits a message.
#[inline(always)]
fn swapped<F: Fabric>(
    fabric: &mut F,
    send: &[u8],
    give: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    take: impl Fn(usize) -> Range<usize>,
) -> Result<(), F::Error> {
    let (rank, peer) = (fabric.rank(), 1 - fabric.rank());
    short_copy::copy(&mut recv[take(rank)], &send[give(rank)]);
    fabric.swap(peer, &send[give(peer)], &mut recv[take(peer)])
}

#[inline]
fn run_direct<F: Fabric>(
    context: &mut OpContext<F>,
    send: &[u8],
    give: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    take: impl Fn(usize) -> Range<usize>,
    element_size: usize,
) -> Result<(), F::Error> {
    let protocol = TransferProtocol::fitting(context.message_bytes, element_size);
    let (fabric, longest) = (&mut context.fabric, context.message_bytes);
    if direct::others(fabric).all(|peer| give(peer).len() <= longest) {
        return direct_in_messages(fabric, send, give, recv, take, protocol);
    }
    fabric.with_window_to_read(send, element_size, |fabric, send| {
        direct(fabric, send, give, recv, take, protocol)
    })
}

/// Runs Bruck's algorithm over slices of all parts, one after another, so that each fits the scratch.
fn run_bruck<F: Fabric>(
    context: &mut OpContext<F>,
    send: &[u8],
    give: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    take: impl Fn(usize) -> Range<usize>,
    longest: usize,
) -> Result<(), F::Error> {
    let n = context.fabric.size();
    let protocol = TransferProtocol::fitting(context.message_bytes, 1);
    let once = (SCRATCH_BYTES / 2 / bruck::scratch_bytes(1, n)).max(1);
    for start in (0..longest.max(1)).step_by(once) {
        let len = once.min(longest - start);
        let within = |part| slice(part, start, len);
        context.with_scratch(bruck::scratch_bytes(len, n), 1, |fabric, _, _, scratch| {
            let (give, take) = (|rank| within(give(rank)), |rank| within(take(rank)));
            bruck(fabric, send, give, recv, take, (scratch, len), protocol)
        })?;
    }
    Ok(())
}
