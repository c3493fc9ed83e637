//! One line with the flags of two ranks, and beside each flag the values that its rank gives.
//!
//! ```text
//! | flag of rank 0 | flag of rank 1 | values of rank 0, by parity | values of rank 1, by parity |
//! ```
//!
//! A rank that takes the line to write gets what the other one has written. The flag is written last and read first.
//! A rank writes the value of operation n once it has seen the other's flag of n - 1, so that the other one has read the
//! value of n - 2, which lies in the same word.

use corecast_wire::Line;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many places a floor's pair of lines may lie in; each batch takes the next one.
///
/// The distance to the cache slice that a line's address falls to changes a transfer by up to
/// 20 % (97 to 118 ns one way for two pairs of one run; 2-core KVM guest, Xeon at 2.5 GHz,
/// November 2026). With one pair alone, the floor would depend on luck.
pub const PLACES: usize = 64;

/// Two flags and four values: see the module.
pub(super) type ExchangeLine = Line<[AtomicU64; 6]>;

/// The lines of a floor in which both ranks write one line.
pub(super) fn exchange_places() -> Box<[ExchangeLine; PLACES]> {
    Box::new(std::array::from_fn(|_| Default::default()))
}

/// Stores `value` as that of operation `number` of `rank`, and raises the flag.
#[inline(always)]
pub(super) fn give(line: &ExchangeLine, rank: usize, number: u64, value: u64) {
    // Relaxed: Release publishes it with the flag, and pairs with the Acquire of whoever waits for that.
    line.0[2 + 2 * rank + (number & 1) as usize].store(value, Ordering::Relaxed);
    line.0[rank].store(number, Ordering::Release);
}

/// The value of operation `number` of `rank`, whose flag was seen.
#[inline(always)]
pub(super) fn take(line: &ExchangeLine, rank: usize, number: u64) -> u64 {
    line.0[2 + 2 * rank + (number & 1) as usize].load(Ordering::Relaxed)
}
