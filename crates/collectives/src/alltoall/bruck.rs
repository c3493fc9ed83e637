//! An all-to-all in which parts travel by the bits of their distance: few transfers, each of up to half of all
//! parts.

use crate::transfer::TransferProtocol;
use corecast_wire::{Fabric, copy};
use std::ops::Range;

/// Bytes of scratch for parts of `len` bytes: all parts, and the outgoing and the incoming ones of one step.
pub(crate) fn scratch_bytes(len: usize, n: usize) -> usize {
    let moved = n.div_ceil(2);
    len * (n + 2 * moved)
}

/// Copies `give(peer)` of each rank's `send` to each `peer`, which gets it at `take(rank)` of its `recv`. No part
/// is longer than `len`, and all travel as `len` bytes. Buffers: `scratch` has n + 2 ⌈n / 2⌉ times `len` bytes.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// ⌈log2 n⌉ transfers by each rank, of those parts that have a bit set in their distance: n / 2, or
/// fewer. Each part is copied up to ⌈log2 n⌉ + 2 times. Needs links from r to r ± 2^k.
///
/// # Source
///
/// Bruck, Ho, Kipnis, Upfal and Weathersby 1997 §3.
pub fn bruck<F: Fabric>(
    fabric: &mut F,
    send: &[u8],
    give: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    take: impl Fn(usize) -> Range<usize>,
    (scratch, len): (&mut F::Window<'_>, usize),
    protocol: TransferProtocol,
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    // Scratch has outgoing parts, all parts, and incoming parts. The part at place `distance` travels that many
    // ranks up.
    let place = |distance: usize| distance * len..(distance + 1) * len;
    let (most, all) = (n.div_ceil(2) * len, n * len);
    let parts = fabric.view_mut(scratch, most..most + all)?;
    for distance in 0..n {
        let part = &send[give((rank + distance) % n)];
        copy::slice(&mut parts[place(distance)][..part.len()], part);
    }
    let steps = (0..usize::BITS).map(|bit| 1 << bit);
    for step in steps.take_while(|&step| step < n) {
        let moved = || (1..n).filter(move |distance| distance & step != 0);
        let bytes = moved().count() * len;
        // When this returns, the peer has taken the parts that were lent before.
        let buffer = fabric.view_mut(scratch, 0..most + all)?;
        let (out, parts) = buffer.split_at_mut(most);
        for (slot, distance) in moved().enumerate() {
            copy::slice(&mut out[place(slot)], &parts[place(distance)]);
        }
        protocol.give(fabric, scratch, (rank + step) % n, 0..bytes)?;
        let buffer = fabric.view_mut(scratch, most..most + all + bytes)?;
        let (parts, into) = buffer.split_at_mut(all);
        protocol.take(fabric, (rank + n - step) % n, into)?;
        for (slot, distance) in moved().enumerate() {
            copy::slice(&mut parts[place(distance)], &into[place(slot)]);
        }
    }
    for distance in 0..n {
        let into = &mut recv[take((rank + n - distance) % n)];
        let start = most + distance * len;
        copy::slice(into, fabric.view(scratch, start..start + into.len()));
    }
    fabric.flush()
}
