//! How sized operations are started, and whether caches are warm then.

use serde::Serialize;
use std::cell::RefCell;
use std::fmt;
use std::hint::black_box;
use std::time::Instant;

/// How many nanoseconds ahead the common start of an operation is named. Ranks leave a barrier one
/// after the other: without a common start, data would have come before the receiver reads the
/// clock, and a broadcast would seem faster than one cache line can travel.
const LEAD_NS: u64 = 4000;

/// What ranks wait for before an operation: strict synchronisation with a window or a barrier, loose without.
///
/// Source: Hunold and Carpen-Amarie, *Reproducible MPI Benchmarking Is Still Not As Easy As You
/// Think*, TPDS 27 (2016): windows of a common clock against barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// A barrier, and then an instant that the root names, of the clock that all cores share.
    Window,
    /// The library's own barrier and nothing else.
    Barrier,
    /// Nothing: operations run back to back, and ranks may run ahead of each other. What is timed is the
    /// throughput (Nishtala and Yelick, *Optimizing Collective Communication on Multicores*, §3).
    #[serde(rename = "back-to-back")]
    BackToBack,
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Start::Window => "window",
            Start::Barrier => "barrier",
            Start::BackToBack => "back-to-back",
        })
    }
}

/// The conditions under which sized operations are timed. A `bool` gives the usual ones: `true` for
/// ranks that share hardware threads, `false` for ranks that do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Conditions {
    /// Whether ranks share hardware threads.
    #[serde(rename = "crowded")]
    pub oversubscribed: bool,
    /// How each operation is started.
    pub start: Start,
    /// Bytes of other memory that each rank goes through before each operation, to drive data and
    /// flags out of caches up to half of that; 0 leaves the caches warm.
    pub cold_bytes: usize,
    /// How many nanoseconds ahead a common start is named; 0 without one.
    lead_ns: u64,
}

impl From<bool> for Conditions {
    /// Ranks that share hardware threads get a barrier instead of a window, since a rank that
    /// watches the clock keeps the others from running.
    fn from(oversubscribed: bool) -> Conditions {
        let start = match oversubscribed {
            true => Start::Barrier,
            false => Start::Window,
        };
        let warm = Conditions {
            oversubscribed,
            start,
            cold_bytes: 0,
            lead_ns: 0,
        };
        warm.starting(start)
    }
}

impl Conditions {
    /// Sets the start.
    #[must_use]
    pub fn starting(self, start: Start) -> Conditions {
        let lead_ns = match start {
            Start::Barrier | Start::BackToBack => 0,
            Start::Window => LEAD_NS + self.walk_ns(),
        };
        Conditions {
            start,
            lead_ns,
            ..self
        }
    }

    /// Lets each rank walk through `bytes` of other memory before each operation.
    ///
    /// # Cost
    ///
    /// Allocates the memory for each thread that ever measures so, and walks through it three times.
    #[must_use]
    pub fn cold(self, bytes: usize) -> Conditions {
        let cold = Conditions {
            cold_bytes: bytes,
            ..self
        };
        cold.starting(self.start)
    }

    /// Whether operations run back to back.
    pub fn is_loose(&self) -> bool {
        self.start == Start::BackToBack
    }

    /// How many nanoseconds ahead a common start is named; 0 without one.
    pub fn lead_ns(&self) -> u64 {
        self.lead_ns
    }

    /// Most operations of one batch, so that walks through memory do not make it long.
    pub fn operations_max(&self) -> u64 {
        const BATCH_NS: u64 = 20_000_000;
        match self.cold_bytes {
            0 => 1 << 40,
            _ => (BATCH_NS / self.walk_ns().max(1)).max(4),
        }
    }

    /// Twice the time of a walk, since ranks that walk at the same time share memory's bandwidth.
    fn walk_ns(&self) -> u64 {
        if self.cold_bytes == 0 {
            return 0;
        }
        let timed = |_| {
            let begin = Instant::now();
            self.walk();
            begin.elapsed().as_nanos() as u64
        };
        // The first walk touches the pages and does not count.
        2 * (0..3).map(timed).skip(1).max().unwrap_or(0)
    }

    /// Reads and writes one word of each cache line of the other memory, if caches are to be cold.
    pub(crate) fn walk(&self) {
        thread_local! {
            static ELSEWHERE: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
        }
        const STRIDE: usize = 64 / size_of::<u64>();
        if self.cold_bytes == 0 {
            return;
        }
        ELSEWHERE.with_borrow_mut(|words| {
            words.resize(self.cold_bytes.div_ceil(size_of::<u64>()), 1);
            for word in words.iter_mut().step_by(STRIDE) {
                *word = word.wrapping_add(1);
            }
            black_box(words);
        });
    }

    /// How latencies are measured, as a sentence for the reader of a table.
    pub fn method(&self) -> String {
        let begin = match self.start {
            Start::Window => {
                "from an instant agreed on after a barrier until the last rank has returned"
            }
            Start::Barrier => "after a barrier, the most of all ranks' times in the call",
            Start::BackToBack => {
                return "throughput: operations back to back, without a barrier in between; the slowest rank's time \
                        for all of them, by their number; ranks write their inputs anew meanwhile, and buffers change"
                    .to_owned();
            }
        };
        let caches = match (self.cold_bytes, self.start) {
            (0, _) => "inputs are fresh in their owner's cache".to_owned(),
            (bytes, Start::Window) => format!(
                "each rank goes through {} KiB of other memory between the agreement and the start",
                bytes >> 10
            ),
            (bytes, _) => format!(
                "each rank goes through {} KiB of other memory before the barrier, whose own lines are warm",
                bytes >> 10
            ),
        };
        format!("latency: {begin}; {caches}, buffers change, the clock's own time is taken off")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_open_after_the_walk() {
        let warm = Conditions::from(false);
        assert_eq!((warm.start, warm.lead_ns()), (Start::Window, LEAD_NS));
        let cold = warm.cold(1 << 20);
        assert!(cold.lead_ns() > LEAD_NS, "{cold:?}");
        assert_eq!(cold.starting(Start::Barrier).lead_ns(), 0);
        let oversubscribed = Conditions::from(true);
        assert_eq!(
            (oversubscribed.start, oversubscribed.lead_ns()),
            (Start::Barrier, 0)
        );
        assert_eq!(oversubscribed.starting(Start::Window).lead_ns(), LEAD_NS);
    }

    #[test]
    fn the_method_says_what_is_cold() {
        let cold = Conditions::from(false).cold(4 << 20);
        assert!(cold.method().contains("4096 KiB"));
        assert!(cold.method().contains("agreed on after a barrier"));
        let barrier = cold.starting(Start::Barrier);
        assert!(barrier.method().contains("before the barrier"));
        assert!(Conditions::from(true).method().contains("fresh"));
        let loose = Conditions::from(false).starting(Start::BackToBack);
        assert!(loose.is_loose() && loose.lead_ns() == 0);
        assert!(loose.method().starts_with("throughput: "));
    }
}
