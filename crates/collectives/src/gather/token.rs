//! A gather with one giver at a time, the rank that has the token: the scatter's token ring backwards (NUMA
//! clusters §3.2).

use crate::token::{Passing, halves, passing};
use corecast_wire::{Fabric, stream};
use std::ops::Range;

/// Copies each rank's `len` bytes of `send` to `part(rank)` of `root`'s `recv`. `near` says that this rank is on
/// the root's NUMA node; elements have `element_size` bytes, and at most `token_bytes` are given without the token.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// Up to 2 (n − 1) loans, one for each part of at most `token_bytes`, and n − 2 notifications. Needs
/// links from all to the root, and around.
pub fn token_ring<F: Fabric>(
    fabric: &mut F,
    root: usize,
    (send, len): (&F::Window<'_>, usize),
    recv: &mut [u8],
    part: impl Fn(usize) -> Range<usize>,
    near: bool,
    (element_size, token_bytes): (usize, usize),
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    if rank == root {
        let all = recv.len();
        stream::copy(&mut recv[part(root)], fabric.view(send, 0..len), all);
        for peer in (1..n).map(|step| (root + step) % n) {
            let part = part(peer);
            for half in halves(part, (element_size, token_bytes)) {
                if !half.is_empty() {
                    fabric.fetch(peer, &mut recv[half])?;
                }
            }
        }
        return Ok(());
    }
    let v = (rank + n - root) % n;
    if v > 1 {
        fabric.wait((rank + n - 1) % n)?;
    }
    let pass = |fabric: &mut F| match v + 1 < n {
        true => fabric.notify((rank + 1) % n),
        false => Ok(()),
    };
    let [with, after] = halves(0..len, (element_size, token_bytes));
    let passing = passing(near, &with);
    if passing == Passing::Before {
        pass(fabric)?;
    }
    if !with.is_empty() {
        fabric.lend(send, [root], with)?;
    }
    if passing == Passing::Between {
        // After the flush the root has read the part.
        fabric.flush()?;
        pass(fabric)?;
    }
    if !after.is_empty() {
        fabric.lend(send, [root], after)?;
    }
    fabric.flush()?;
    if passing == Passing::Last {
        pass(fabric)?;
    }
    Ok(())
}
