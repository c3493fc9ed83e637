//! A gather up a binomial tree, in which each part travels together with its neighbours: a binomial
//! scatter backwards (MPICH; Thakur, Rabenseifner and Gropp 2005 §2), in pipeline segments (NUMA clusters §3 and §3.2).
//!
//! The first segment goes first: a rank has the first bytes of its subtree itself.

use crate::binomial_segments::{Place, joined, places};
use crate::binomial_tree::children;
use crate::transfer::TransferProtocol;
use corecast_wire::{Fabric, copy};
use std::ops::Range;

/// Copies each rank's `send` to `part(rank)` of `root`'s `recv`, in segments of so many bytes of all ranks' parts; the
/// first of `cut` is the number of bytes of an interval of ranks, counted from the root. `scratch` has room for the
/// parts of this rank's subtree, or for four segments if that is less; leaves need none, nor does a root whose parts
/// lie side by side in that order.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 transfers, more where a subtree has several segments, in ⌈log2 n⌉ steps; a part is moved at most ⌈log2 n⌉
/// times. The root copies only what comes from a child together and does not lie together. Needs links from r to
/// r ± 2^k.
#[expect(
    clippy::too_many_arguments,
    reason = "two buffers more than the others"
)]
#[inline]
pub fn binomial<F: Fabric>(
    fabric: &mut F,
    root: usize,
    send: &[u8],
    scratch: &mut [u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize>,
    cut: (impl Fn(Range<usize>) -> usize, usize),
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let place = Place::new(fabric.rank(), root, fabric.size(), cut);
    if place.v == 0 {
        copy::slice(&mut recv[part(root)], send);
        return take_in(fabric, &place, scratch, recv, part, protocol);
    }
    if place.is_leaf() {
        let own = place.own();
        return fabric.with_window_to_read(send, 1, |fabric, send| {
            place.pieces(place.v).try_for_each(|piece| {
                let mine = piece.start - own.start..piece.end - own.start;
                protocol.give(fabric, send, place.above(), mine)
            })?;
            fabric.flush()
        });
    }
    fabric.with_window(scratch, 1, false, |fabric, scratch| {
        pass_on(fabric, &place, send, scratch, protocol)
    })
}

/// What the root does.
#[inline]
fn take_in<F: Fabric>(
    fabric: &mut F,
    place: &Place<impl Fn(Range<usize>) -> usize>,
    scratch: &mut [u8],
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize>,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let part = |v| part(place.rank_of(v));
    for child in children(0, place.n) {
        // The part of `first` starts at byte `start`.
        let (mut first, mut start) = (child, place.below(child).start);
        for piece in place.pieces(child) {
            while first + 1 < place.n && start + part(first).len() <= piece.start {
                start += part(first).len();
                first += 1;
            }
            let places = || places((first, start), piece.clone(), place.n, part);
            if let Some(range) = joined(places()) {
                protocol.take(fabric, place.rank_of(child), &mut recv[range])?;
                continue;
            }
            let mut from = &mut scratch[..piece.len()];
            protocol.take(fabric, place.rank_of(child), from)?;
            for range in places() {
                let (here, rest) = from.split_at_mut(range.len());
                copy::slice(&mut recv[range], here);
                from = rest;
            }
        }
    }
    Ok(())
}

/// What a rank between the root and a leaf does.
#[inline]
fn pass_on<F: Fabric>(
    fabric: &mut F,
    place: &Place<impl Fn(Range<usize>) -> usize>,
    send: &[u8],
    scratch: &mut F::Window<'_>,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (own, slots) = (place.own(), place.slots());
    let mut incoming = children(place.v, place.n)
        .flat_map(|child| place.pieces(child).map(move |piece| (child, piece)))
        .peekable();
    for (index, piece) in place.pieces(place.v).enumerate() {
        let slot = slots.place(index, piece.len());
        let all = fabric.view_mut(scratch, slot.clone())?;
        if piece.start < own.end {
            let mine = &send[piece.start - own.start..piece.end.min(own.end) - own.start];
            copy::slice(&mut all[..mine.len()], mine);
        }
        while let Some((child, part)) = incoming.next_if(|(_, part)| part.end <= piece.end) {
            let into = &mut all[part.start - piece.start..part.end - piece.start];
            protocol.take(fabric, place.rank_of(child), into)?;
        }
        protocol.give(fabric, scratch, place.above(), slot)?;
    }
    fabric.flush()
}
