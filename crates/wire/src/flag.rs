//! Flags: lines with the sequence number that their writer has reached.

use crate::hardware_wait::Monitored;
use crate::segment::{LineRef, Lines};
use crate::sync::{AtomicU64, order};

/// A line with a sequence number, which one thread writes and any number of threads read. It is CLa's flag line,
/// with its `write` and `wait`.
///
/// **Invariant 1:** the number only grows, so a reader that missed a value sees a later one.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Flag {
    seq: AtomicU64,
}

// SAFETY: one atomic integer, of which any value is valid; zero is its default.
unsafe impl Lines for Flag {}

impl Flag {
    /// Raises the flag to `seq`. A reader of this value sees what the writer did before.
    #[inline(always)]
    pub fn raise(&self, seq: u64) {
        // Release: synchronises with the load in `seq`.
        self.seq.store(seq, order::raise());
    }

    /// The value that the writer has raised the flag to.
    #[inline(always)]
    pub fn seq(&self) -> u64 {
        // Acquire: synchronises with the store in `raise`.
        self.seq.load(order::see())
    }

    /// The word whose write ends a wait for this flag.
    #[inline(always)]
    pub fn monitored(&self) -> Monitored<'_> {
        Monitored::new(&self.seq)
    }
}

/// The flags of two threads that notify each other, in one line.
///
/// A thread that takes the line to raise its own flag gets the other's with it. Where both come at about the same
/// time that saves one transfer over a [`Flag`] each; where one raises and the other waits, the cost is equal.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Exchange {
    words: [AtomicU64; 2],
}

// SAFETY: atomic integers, of which any value is valid; zero is their default, no Drop.
unsafe impl Lines for Exchange {}

/// One word of an [`Exchange`], which serves as a flag.
///
/// # Examples
///
/// ```
/// use corecast_wire::{Exchange, LineRef, Segment, Signal};
///
/// let line: LineRef<Exchange> = Segment::one(None)?;
/// let [mine, theirs] = [0, 1].map(|word| Signal::new(line.clone(), word));
/// mine.raise(3);
/// assert_eq!((mine.seq(), theirs.seq()), (3, 0));
/// # Ok::<(), corecast_wire::SegmentError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Signal {
    line: LineRef<Exchange>,
    word: usize,
}

impl Signal {
    /// Word 0 or 1 of a line.
    ///
    /// # Panics
    ///
    /// If `word` is neither.
    pub fn new(line: LineRef<Exchange>, word: usize) -> Self {
        assert!(word < 2, "a line of signals has words 0 and 1, not {word}");
        Self { line, word }
    }

    /// [`Flag::raise`].
    #[inline(always)]
    pub fn raise(&self, seq: u64) {
        // Release: synchronises with the load in `seq`.
        self.line.words[self.word & 1].store(seq, order::raise());
    }

    /// [`Flag::seq`].
    #[inline(always)]
    pub fn seq(&self) -> u64 {
        // Acquire: synchronises with the store in `raise`.
        self.line.words[self.word & 1].load(order::see())
    }

    /// [`Flag::monitored`].
    #[inline(always)]
    pub fn monitored(&self) -> Monitored<'_> {
        Monitored::new(&self.line.words[self.word & 1])
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Flag>() == crate::line::PAIR_BYTES);
#[cfg(not(loom))]
const _: () = assert!(size_of::<Exchange>() == crate::line::PAIR_BYTES);
