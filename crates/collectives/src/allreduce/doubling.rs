//! An allreduction by recursive doubling: groups of ranks double with every step, and all ranks of a group know its
//! sum.
//!
//! ```text
//!   ranks     0   1   2   3   4   5   6
//!   step 1    0 1 ─── 2 3 ─── 4 5     6       0 ◄─► 1, 2 ◄─► 3, 4 ◄─► 5
//!   step 2    0 1 2 3 ─────── 4 5 6           0 ◄─► 2, 1 ◄─► 3, 4 ◄─► 6, 6 ─► 5
//!   step 3    0 1 2 3 4 5 6                   0 ◄─► 4, 1 ◄─► 5, 2 ◄─► 6, 4 ─► 3
//! ```
//!
//! Each rank of a last group that is not full may give to more than one rank. So the order of reduction is that of
//! [`reduce::ordered_tree`](crate::reduce::ordered_tree) for any number of ranks.

use crate::combine::Combine;
use crate::transfer::TransferProtocol;
use corecast_wire::{Fabric, copy};

/// Combines the `len` bytes of all ranks' windows into each of them, in rank order. Buffers: the data's window,
/// scratch of that length, and room for a message.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// ⌈log2 n⌉ steps, in each of which a rank whose group has a neighbour takes one transfer of all bytes;
/// one copy of them after an odd number of steps. Needs links from r to r ^ 2^k, and between all pairs
/// where n is no power of two.
///
/// # Source
///
/// Thakur, Rabenseifner and Gropp 2005 §4.5, which folds where n is no power of two.
pub fn doubling<F: Fabric>(
    fabric: &mut F,
    (window, scratch, len): (&mut F::Window<'_>, &mut F::Window<'_>, usize),
    incoming: &mut [u8],
    combine: &impl Combine,
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let mut in_scratch = false;
    let sizes = (0..usize::BITS).map(|bit| 1 << bit);
    for size in sizes.take_while(|&size| size < n) {
        let Some((peers, source)) = step(rank, n, size) else {
            continue;
        };
        let buffers = (&mut *incoming, combine, protocol);
        if in_scratch {
            exchange(fabric, (scratch, window, len), peers, source, buffers)?;
        } else {
            exchange(fabric, (window, scratch, len), peers, source, buffers)?;
        }
        in_scratch = !in_scratch;
    }
    if in_scratch {
        let sum = fabric.view(scratch, 0..len);
        copy::slice(fabric.view_mut(window, 0..len)?, sum);
    }
    fabric.flush()
}

/// Combines `sum` as [`doubling`] does, where it fits a message: without windows, and in place.
///
/// # Errors
///
/// Returns the first error of the fabric.
pub fn doubling_in_messages<F: Fabric>(
    fabric: &mut F,
    sum: &mut [u8],
    incoming: &mut [u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    let sizes = (0..usize::BITS).map(|bit| 1 << bit);
    for size in sizes.take_while(|&size| size < n) {
        let Some((mut peers, source)) = step(rank, n, size) else {
            continue;
        };
        match n.is_power_of_two() {
            true => fabric.swap(source, sum, incoming)?,
            false => {
                peers.try_for_each(|peer| fabric.send(peer, sum))?;
                fabric.receive(source, incoming)?;
            }
        }
        match source < rank {
            true => combine.combine_left(sum, incoming),
            false => combine.combine(sum, incoming),
        }
    }
    Ok(())
}

/// The ranks to which `rank` gives when groups of `size` ranks are joined, and the rank from which it takes; `None`
/// if its group has no neighbour.
fn step(rank: usize, n: usize, size: usize) -> Option<(impl Iterator<Item = usize>, usize)> {
    let start = rank / (2 * size) * (2 * size);
    let middle = start + size;
    if middle >= n {
        return None;
    }
    let upper = size.min(n - middle);
    let place = (rank - start) % size;
    if rank < middle {
        let peers = (rank + size).min(n)..(rank + size + 1).min(n);
        Some((peers.step_by(1), middle + place % upper))
    } else {
        Some(((start + place..middle).step_by(upper), rank - size))
    }
}

fn exchange<F: Fabric>(
    fabric: &mut F,
    (sum, next, len): (&F::Window<'_>, &mut F::Window<'_>, usize),
    peers: impl Iterator<Item = usize>,
    source: usize,
    (incoming, combine, protocol): (&mut [u8], &impl Combine, TransferProtocol),
) -> Result<(), F::Error> {
    let rank = fabric.rank();
    protocol.give_all(fabric, sum, peers, 0..len)?;
    let mine = fabric.view(sum, 0..len);
    let next = fabric.view_mut(next, 0..len)?;
    protocol.take_with(fabric, source, len, incoming, |start, piece| {
        let range = start..start + piece.len();
        let (next, mine) = (&mut next[range.clone()], &mine[range]);
        if source < rank {
            combine.combine_into(next, piece, mine);
        } else {
            combine.combine_into(next, mine, piece);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_takes_is_given() {
        for n in 1..40 {
            for size in [1, 2, 4, 8, 16, 32] {
                let mut given = vec![None; n];
                for rank in 0..n {
                    for peer in step(rank, n, size).into_iter().flat_map(|(peers, _)| peers) {
                        assert_eq!(given[peer].replace(rank), None, "{n} ranks, {size}");
                    }
                }
                for (rank, given) in given.into_iter().enumerate() {
                    let source = step(rank, n, size).map(|(_, source)| source);
                    assert_eq!(given, source, "rank {rank} of {n}, {size}");
                }
            }
        }
    }
}
