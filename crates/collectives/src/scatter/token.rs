//! A scatter with one reader at a time, the rank that has the token (NUMA clusters §3.2).
//!
//! All ranks that read the root's memory at once share one way out of its NUMA node. So a token goes around, and
//! the rank that has it reads. It is passed on
//!
//! 1. at once by a rank on the root's node, which needs no way out of it;
//! 2. at once where there are at most `token_bytes` to read;
//! 3. else when at most `token_bytes` are left.

use crate::token::{Passing, halves, passing};
use corecast_wire::{Fabric, stream};
use std::ops::Range;

/// Copies `part(rank)` of `root`'s `send` to each rank's `recv`. `near` says that this rank is on the root's NUMA
/// node; elements have `element_size` bytes, and at most `token_bytes` are read without the token.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// Up to 2 (n − 1) loans, one for each part of at most `token_bytes`, and n − 2 notifications. Needs
/// links from the root to all, and around.
pub fn token_ring<F: Fabric>(
    fabric: &mut F,
    root: usize,
    send: &F::Window<'_>,
    part: impl Fn(usize) -> Range<usize>,
    recv: &mut [u8],
    near: bool,
    (element_size, token_bytes): (usize, usize),
) -> Result<(), F::Error> {
    let (rank, n) = (fabric.rank(), fabric.size());
    if rank == root {
        for peer in (1..n).map(|step| (root + step) % n) {
            for half in halves(part(peer), (element_size, token_bytes)) {
                if !half.is_empty() {
                    fabric.lend(send, [peer], half)?;
                }
            }
        }
        let all = recv.len();
        stream::copy(recv, fabric.view(send, part(root)), all);
        return fabric.flush();
    }
    let v = (rank + n - root) % n;
    if v > 1 {
        fabric.wait((rank + n - 1) % n)?;
    }
    let pass = |fabric: &mut F| match v + 1 < n {
        true => fabric.notify((rank + 1) % n),
        false => Ok(()),
    };
    let [with, after] = halves(0..recv.len(), (element_size, token_bytes));
    let passing = passing(near, &with);
    if passing == Passing::Before {
        pass(fabric)?;
    }
    if !with.is_empty() {
        fabric.fetch(root, &mut recv[with])?;
    }
    if passing == Passing::Between {
        pass(fabric)?;
    }
    if !after.is_empty() {
        fabric.fetch(root, &mut recv[after])?;
    }
    if passing == Passing::Last {
        pass(fabric)?;
    }
    Ok(())
}
