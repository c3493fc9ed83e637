//! A barrier of rounds in which ranks meet in pairs.
//!
//! Both flags of a pair share a line. Whoever waits takes that line, as it will write to it in the next barrier: a copy to
//! read would have to be taken from it then, by another transfer.

use corecast_wire::Fabric;

/// The ranks that `rank` of `n` meets, one after the other.
pub fn butterfly_peers(rank: usize, n: usize) -> impl Iterator<Item = usize> {
    (0..n.ilog2()).map(move |round| rank ^ (1 << round))
}

/// Returns when all ranks have come. `peers` are those of [`butterfly_peers`].
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// log2 n rounds, in each of which a line goes back and forth between two ranks: two transfers where they come at about the same
/// time, three where they compute for longer than a transfer in between, since whoever waits has taken the line meanwhile; two lines
/// take two then. A barrier of two ranks and 126 ns of computing took 205 to 211 ns with cores near each other, by two lines 198 to
/// 205; with cores far from each other 449 to 467 and 405 to 413, without computing 203 to 216 and 197 to 203 (AMD EPYC, 2-core KVM
/// guest, 29 November 2026, `--example between` of the crate `corecast`).
///
/// # Source
///
/// Brooks 1986, "The butterfly barrier".
#[inline(always)]
pub fn butterfly<F: Fabric>(fabric: &mut F, peers: &[usize]) -> Result<(), F::Error> {
    for &peer in peers {
        fabric.notify(peer)?;
        fabric.wait_by_taking(peer)?;
    }
    Ok(())
}
