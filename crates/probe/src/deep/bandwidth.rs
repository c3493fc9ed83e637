//! Bandwidths: bytes per second that threads copy, with plain stores and past the caches.

use std::hint::black_box;
use std::time::Duration;

use corecast_model::deep::Figure;
use corecast_wire::{copy, microbench, stream};

use super::crew::{Mate, Stop};

/// Sizes of a copy, in KiB: within the first cache, the second, the last, and none.
const SIZES: [usize; 4] = [16, 256, 4 << 10, 64 << 10];

/// KiB that each of several threads copies at once: more than their shares of most caches.
const SHARE: usize = 16 << 10;

/// Bytes that a sample moves at least.
const BYTES: usize = 1 << 20;

/// The way in which bytes are moved.
#[derive(Clone, Copy, Debug)]
enum ByteMove {
    Copy,
    CopyPastCaches,
    ClearPastCaches,
}

/// Figures in GB/s (10⁹ bytes that were written), by name.
pub(super) type NamedFigures = Vec<(String, Figure)>;

/// Measures one thread alone.
pub(super) fn alone(mate: &mut Mate<'_>, limit: Duration) -> Result<NamedFigures, Stop> {
    let mut all = NamedFigures::new();
    for kibibytes in SIZES {
        let rate = rate(mate, ByteMove::Copy, kibibytes, limit)?;
        all.extend(rate.map(|figure| (format!("copy, {kibibytes} KiB"), figure)));
    }
    let largest = SIZES[SIZES.len() - 1];
    for (way, name) in [
        (ByteMove::CopyPastCaches, "copy past the caches"),
        (ByteMove::ClearPastCaches, "stores past the caches"),
    ] {
        let rate = rate(mate, way, largest, limit)?;
        all.extend(rate.map(|figure| (format!("{name}, {largest} KiB"), figure)));
    }
    Ok(all)
}

/// Measures all threads of the crew at once.
pub(super) fn together(mate: &mut Mate<'_>, limit: Duration) -> Result<NamedFigures, Stop> {
    let threads = mate.crew();
    let mut all = NamedFigures::new();
    for (way, name) in [
        (ByteMove::Copy, "copy"),
        (ByteMove::CopyPastCaches, "copy past the caches"),
    ] {
        let rate = rate(mate, way, SHARE, limit)?;
        all.extend(rate.map(|figure| {
            (
                format!("{name}, {threads} threads, {SHARE} KiB each"),
                figure,
            )
        }));
    }
    Ok(all)
}

/// Returns the bytes per nanosecond of all threads of the crew.
fn rate(
    mate: &mut Mate<'_>,
    way: ByteMove,
    kibibytes: usize,
    limit: Duration,
) -> Result<Option<Figure>, Stop> {
    let bytes = kibibytes << 10;
    let (from, mut into) = (vec![1_u8; bytes], vec![2_u8; bytes]);
    let times = (BYTES / bytes).max(1);
    let all = (mate.crew() * times * bytes) as f64;
    mate.until_settled(1, limit, |mate| {
        mate.start_together()?;
        let start = mate.timer.now();
        for _ in 0..times {
            let from = black_box(&from[..]);
            match way {
                ByteMove::Copy => copy::slice(&mut into, from),
                ByteMove::CopyPastCaches => stream::copy(&mut into, from, usize::MAX),
                ByteMove::ClearPastCaches => microbench::clear_past_caches(&mut into),
            }
            black_box(&mut into);
        }
        let end = mate.timer.now();
        mate.leave(mate.timer.ns(start, end));
        let slowest = mate.most_left(0..mate.crew())?;
        Ok(slowest.map(|ns| all / ns.max(1.0)))
    })
}
