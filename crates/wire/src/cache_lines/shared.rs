//! The lines of an algorithm in memory that threads share, or processes.
//!
//! **Invariant 1:** a value is stored or added with release after the payload of its line, and loaded with acquire before
//! that payload. So a rank that has waited for a value sees the payload that belongs to it.
//!
//! **Invariant 2:** only additions change a line while several ranks change it, and each continues the release sequence
//! of those before it. So a rank that has waited for a sum sees what each rank that added to it did before.
//!
//! **Invariant 3:** whoever changes a value looks at the parkers of all ranks that wait for the line, after the change
//! and a light fence. With the fence of a sleeper before its last look ([`Parker`]) nobody sleeps through a change.
//!
//! Payload is atomic word by word, so that an algorithm that reads it too early gets a mixture of words and nothing
//! worse. What another process writes there besides is such a mixture too: a payload is copied before it is looked at, and no
//! value of a line is a place or a length.

use super::{PAYLOAD_WORDS, Payload, sum};
use crate::hardware_wait::Monitored;
use crate::park::{ANY, Parker};
use crate::segment::{LineRef, LineSlice, Lines};
use crate::sync::{AtomicU64, Ordering, mutated, order};
use crate::{FenceKind, Line};

/// A line of an algorithm in CLa's primitives: a value, and a payload beside it in the same line.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct PayloadLine {
    value: AtomicU64,
    payload: [AtomicU64; PAYLOAD_WORDS],
}

// SAFETY: atomic integers, of which any value is valid; zero is their default, no Drop.
unsafe impl Lines for PayloadLine {}

#[cfg(not(loom))]
const _: () = assert!(size_of::<PayloadLine>() == crate::line::PAIR_BYTES);
#[cfg(not(loom))]
const _: () = assert!((1 + PAYLOAD_WORDS) * size_of::<u64>() == crate::LINE_BYTES);

impl PayloadLine {
    fn payload(&self) -> Payload {
        // Relaxed: the value of a line orders its payload (Invariant 1).
        core::array::from_fn(|word| self.payload[word].load(Ordering::Relaxed))
    }

    fn set_payload(&self, payload: Payload) {
        for (own, word) in self.payload.iter().zip(payload) {
            // Relaxed: as in `payload`.
            own.store(word, Ordering::Relaxed);
        }
    }
}

/// A line of an algorithm that threads share, or several side by side, and the parkers of the threads that wait for it.
/// A wait is the thread's own: [`WaitStrategy`](crate::WaitStrategy) with the token [`ANY`].
///
/// # Examples
///
/// ```
/// use corecast_wire::cache_lines::{PayloadLine, SharedLine};
/// use corecast_wire::park::ANY;
/// use corecast_wire::{Segment, WaitConfig, WaitStrategy, fence_kind};
///
/// let memory = Segment::new(Segment::bytes_for::<PayloadLine>(1), None)?;
/// let wait_strategy = WaitStrategy::new(WaitConfig::BALANCED, Segment::one(None)?);
/// let bells = [wait_strategy.parker().clone()].into();
/// let line = SharedLine::new(memory.lines(1)?, bells, fence_kind());
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         line.set_payload([7; 7]);
///         line.write(1);
///     });
///     wait_strategy.wait(ANY, || (line.value() >= 1).then_some(()));
///     assert_eq!(line.payload(), [7; 7]);
/// });
/// # Ok::<(), corecast_wire::SegmentError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SharedLine {
    lines: LineSlice<PayloadLine>,
    waiters: Box<[LineRef<Line<Parker>>]>,
    fence: FenceKind,
}

impl SharedLine {
    /// These lines, whose value threads with these parkers wait for. Wait strategies of these threads use the same
    /// `fence`.
    ///
    /// # Panics
    ///
    /// If there are no lines.
    pub fn new(
        lines: LineSlice<PayloadLine>,
        waiters: Box<[LineRef<Line<Parker>>]>,
        fence: FenceKind,
    ) -> Self {
        assert!(!lines.is_empty(), "a shared line has at least one line");
        Self {
            lines,
            waiters,
            fence,
        }
    }

    /// Stores a value, and wakes whoever sleeps for the line. A reader of the value sees what the caller did before.
    ///
    /// # Cost
    ///
    /// The line, and a look at the parker of each thread that waits for it; a system call for each one that sleeps.
    #[inline(always)]
    pub fn write(&self, value: u64) {
        // Release: synchronises with the load in `value`.
        self.lines[0].value.store(value, order::raise());
        self.wake();
    }

    /// Adds to the value, and wakes whoever sleeps for the line. A reader of the sum sees what the caller did before.
    ///
    /// # Cost
    ///
    /// As [`write`](Self::write). A sleeper is woken by each addition, and sleeps again if it waits for a greater sum.
    #[inline(always)]
    pub fn add(&self, value: u64) {
        // Release: synchronises with the load in `value`.
        self.lines[0].value.fetch_add(value, order::count());
        self.wake();
    }

    #[inline(always)]
    fn wake(&self) {
        for bell in &self.waiters {
            bell.wake_for(ANY, self.fence);
            if mutated!(OneWaiterWakes) {
                break;
            }
        }
    }

    /// The value.
    #[inline(always)]
    pub fn value(&self) -> u64 {
        // Acquire: synchronises with the store in `write` and the additions in `add`.
        self.lines[0].value.load(order::see())
    }

    /// The word whose write ends a wait for the value.
    #[inline(always)]
    pub fn monitored(&self) -> Monitored<'_> {
        Monitored::new(&self.lines[0].value)
    }

    /// Copies the payload of the first `lines` lines to those of `to`.
    ///
    /// # Panics
    ///
    /// If either has fewer lines.
    #[inline]
    pub fn copy_to(&self, to: &Self, lines: usize) {
        for (from, to) in self.lines[..lines].iter().zip(&to.lines[..lines]) {
            to.set_payload(from.payload());
        }
    }

    /// Adds the payload of the first line of `from` to that of this one, word by word. Sums wrap around.
    #[inline]
    pub fn add_payload_of(&self, from: &Self) {
        self.set_payload(sum(self.payload(), from.payload()));
    }

    /// The payload of the first line.
    #[inline]
    pub fn payload(&self) -> Payload {
        self.lines[0].payload()
    }

    /// Sets the payload of the first line. It is visible to whoever reads a value that the caller writes later.
    #[inline]
    pub fn set_payload(&self, payload: Payload) {
        self.lines[0].set_payload(payload);
    }
}
