//! What event loops count for `INFO`.

use corecast_wire::sync::{AtomicU64, Ordering};

use crate::commands::Lookups;

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counter {
    Commands,
    /// Keys that were looked for and found, and those that were not.
    Hits,
    Misses,
    /// Bytes that came from clients and went to them.
    InputBytes,
    OutputBytes,
}

pub(crate) const COUNTERS: usize = 5;

/// What one event loop has counted. It alone writes there, to lines of its own, so that no count costs more than a store.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counts([AtomicU64; COUNTERS]);

impl Counts {
    pub(crate) fn add(&self, counter: Counter, more: u64) {
        let count = &self.0[counter as usize];
        // Relaxed: numbers for people, of which this thread is the only writer.
        count.store(count.load(Ordering::Relaxed) + more, Ordering::Relaxed);
    }

    pub(crate) fn add_lookups(&self, lookups: Lookups) {
        self.add(Counter::Hits, lookups.hits);
        self.add(Counter::Misses, lookups.misses);
    }

    /// All counts, in the order of [`Counter`].
    pub(crate) fn all(&self) -> [u64; COUNTERS] {
        self.0.each_ref().map(|it| it.load(Ordering::Relaxed))
    }
}
