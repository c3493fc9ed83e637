//! A scatter down a binomial tree, in which each part travels together with its neighbours (MPICH;
//! Thakur, Rabenseifner and Gropp 2005 §2), in pipeline segments (NUMA clusters §3 and §3.2).
//!
//! ```text
//!   from the root:  0 ─► 4 with 4 5 6 7
//!                   0 ─► 2 with 2 3       4 ─► 6 with 6 7
//!                   0 ─► 1    2 ─► 3      4 ─► 5    6 ─► 7
//! ```
//!
//! Ranks are counted from the root, so that each subtree is an interval of ranks, and of the bytes of all parts, which
//! are cut into segments. The last segment goes first: it is for the largest subtree.

use crate::binomial_segments::{Place, joined, places};
use crate::binomial_tree::{children, subtree};
use crate::transfer::TransferProtocol;
use corecast_wire::{Fabric, copy};
use std::ops::Range;

/// Copies `part(rank)` of `root`'s `send` to each rank's `recv`, in segments of so many bytes of all ranks' parts; the
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
/// times. The root copies only what goes to a child together and does not lie together. Needs links from r to r ± 2^k.
#[expect(
    clippy::too_many_arguments,
    reason = "two buffers more than the others"
)]
#[inline]
pub fn binomial<F: Fabric>(
    fabric: &mut F,
    root: usize,
    send: &[u8],
    part: impl Fn(usize) -> Range<usize>,
    scratch: &mut [u8],
    recv: &mut [u8],
    cut: (impl Fn(Range<usize>) -> usize, usize),
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let place = Place::new(fabric.rank(), root, fabric.size(), cut);
    if place.is_leaf() {
        let own = place.own();
        return place.pieces(place.v).rev().try_for_each(|piece| {
            let mine = &mut recv[piece.start - own.start..piece.end - own.start];
            protocol.take(fabric, place.above(), mine)
        });
    }
    if place.v != 0 {
        return fabric.with_window(scratch, 1, false, |fabric, scratch| {
            pass_on(fabric, &place, scratch, recv, protocol)
        });
    }
    fabric.with_window_to_read(send, 1, |fabric, send| {
        if scratch.is_empty() {
            return give_out(fabric, &place, send, part, None, recv, protocol);
        }
        fabric.with_window(scratch, 1, false, |fabric, scratch| {
            give_out(fabric, &place, send, part, Some(scratch), recv, protocol)
        })
    })
}

/// What the root does.
#[inline]
fn give_out<F: Fabric>(
    fabric: &mut F,
    place: &Place<impl Fn(Range<usize>) -> usize>,
    send: &F::Window<'_>,
    part: impl Fn(usize) -> Range<usize>,
    mut scratch: Option<&mut F::Window<'_>>,
    recv: &mut [u8],
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let part = |v| part(place.rank_of(v));
    let mut copies = 0;
    for child in children(0, place.n).rev() {
        let below = place.below(child);
        // The part of `first` starts at byte `start`.
        let (mut first, mut start) = (subtree(child, place.n).end, below.end);
        for piece in place.pieces(child).rev() {
            if piece.start == below.start {
                (first, start) = (child, below.start);
            }
            while start > piece.start {
                first -= 1;
                start -= part(first).len();
            }
            let places = || places((first, start), piece.clone(), place.n, part);
            if let Some(range) = joined(places()) {
                protocol.give(fabric, send, place.rank_of(child), range)?;
                continue;
            }
            let scratch = scratch.as_mut().expect("the parts do not lie side by side");
            let slot = place.slots().place(copies, piece.len());
            let mut into = fabric.view_mut(scratch, slot.clone())?;
            for range in places() {
                let (here, rest) = into.split_at_mut(range.len());
                copy::slice(here, fabric.view(send, range));
                into = rest;
            }
            protocol.give(fabric, scratch, place.rank_of(child), slot)?;
            copies += 1;
        }
    }
    copy::slice(recv, fabric.view(send, part(0)));
    fabric.flush()
}

/// What a rank between the root and a leaf does.
#[inline]
fn pass_on<F: Fabric>(
    fabric: &mut F,
    place: &Place<impl Fn(Range<usize>) -> usize>,
    scratch: &mut F::Window<'_>,
    recv: &mut [u8],
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (own, slots) = (place.own(), place.slots());
    let mut outgoing = children(place.v, place.n)
        .rev()
        .flat_map(|child| place.pieces(child).rev().map(move |piece| (child, piece)))
        .peekable();
    for (index, piece) in place.pieces(place.v).rev().enumerate() {
        let slot = slots.place(index, piece.len());
        let into = fabric.view_mut(scratch, slot.clone())?;
        protocol.take(fabric, place.above(), into)?;
        while let Some((child, part)) = outgoing.next_if(|(_, part)| part.start >= piece.start) {
            let start = slot.start + part.start - piece.start;
            let part = start..start + part.len();
            protocol.give(fabric, scratch, place.rank_of(child), part)?;
        }
        if piece.start < own.end {
            let mine = piece.end.min(own.end) - piece.start;
            let at = piece.start - own.start;
            let from = fabric.view(scratch, slot.start..slot.start + mine);
            copy::slice(&mut recv[at..at + mine], from);
        }
    }
    fabric.flush()
}

#[cfg(test)]
mod tests {
    use crate::binomial_tree::{children, parent, subtree};

    #[test]
    fn subtrees_are_a_rank_and_its_childrens() {
        for n in 1..40 {
            for v in 0..n {
                let mut end = v + 1;
                for child in children(v, n) {
                    assert_eq!(parent(child), v);
                    assert_eq!(subtree(child, n).start, end, "{v} of {n}");
                    end = subtree(child, n).end;
                }
                assert_eq!(subtree(v, n), v..end);
            }
        }
    }
}
