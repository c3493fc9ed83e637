//! How many waits came to their hardware phase.

use crate::Line;
use crate::sync::{AtomicU64, Ordering};
use std::cell::Cell;

/// Threads take these lines in turn, so that few of them share one.
const LINES: usize = 16;

static COUNTS: [Line<AtomicU64>; LINES] = [const { Line(AtomicU64::new(0)) }; LINES];

/// The line of the next thread.
static NEXT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// This thread's line; [`LINES`] until it needs one.
    static OWN: Cell<usize> = const { Cell::new(LINES) };
}

/// Counts one wait.
pub(crate) fn came() {
    let line = OWN.with(|own| {
        if own.get() == LINES {
            // Relaxed: any line serves.
            own.set(NEXT.fetch_add(1, Ordering::Relaxed) as usize % LINES);
        }
        own.get()
    });
    // Relaxed: it is only counted.
    COUNTS[line].fetch_add(1, Ordering::Relaxed);
}

/// The number so far.
pub(super) fn sum() -> u64 {
    // Relaxed: as above.
    COUNTS
        .iter()
        .map(|count| count.load(Ordering::Relaxed))
        .sum()
}
