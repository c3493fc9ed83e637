//! Flags: lines with the sequence number that their writer has reached.

use crate::hardware_wait::Monitored;
use crate::segment::{LineRef, Lines};
use crate::sync::{AtomicU64, Ordering, mutated, order};

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

/// The most bytes of a value beside a [`Signal`].
pub const VALUE_BYTES_MAX: usize = 24;
/// Words of such a value.
const VALUE_WORDS: usize = VALUE_BYTES_MAX / 8;

/// The flags of two threads that notify each other, in one line, and the values that they give each other.
///
/// A thread that takes the line to raise its own flag gets the other's with it. Where both come at about the same
/// time that saves one transfer over a [`Flag`] each; where one raises and the other waits, the cost is equal. Values of
/// up to eight bytes lie in the same line, what is longer also in the next one.
///
/// **Invariant 2:** the owner of a flag writes the value of its turn t, then raises the flag; the other one sees that, reads
/// the value, and raises its own flag for turn t + 1 afterwards. The owner has seen that before it writes the value of turn t + 2,
/// which is at the same place. So no value is written while it is read.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Exchange {
    flags: [AtomicU64; 2],
    /// The first word of a value, by turn and flag.
    first: [[AtomicU64; 2]; 2],
    others: NextLine<[[[AtomicU64; VALUE_WORDS - 1]; 2]; 2]>,
}

#[derive(Debug, Default)]
#[repr(C, align(64))]
struct NextLine<T>(T);

// SAFETY: atomic integers, of which any value is valid; zero is their default, no Drop.
unsafe impl Lines for Exchange {}

/// One flag of an [`Exchange`].
///
/// # Examples
///
/// ```
/// use corecast_wire::{Exchange, LineRef, Segment, Signal};
///
/// let line: LineRef<Exchange> = Segment::one(None)?;
/// let [mine, theirs] = [0, 1].map(|flag| Signal::new(line.clone(), flag));
/// mine.give(1, b"value");
/// mine.raise(3);
/// assert_eq!((mine.seq(), theirs.seq()), (3, 0));
/// let mut value = [0; 5];
/// mine.take(1, &mut value);
/// assert_eq!(&value, b"value");
/// # Ok::<(), corecast_wire::SegmentError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Signal {
    line: LineRef<Exchange>,
    flag: usize,
}

impl Signal {
    /// Flag 0 or 1 of a line.
    ///
    /// # Panics
    ///
    /// If `flag` is neither.
    pub fn new(line: LineRef<Exchange>, flag: usize) -> Self {
        assert!(flag < 2, "a line of signals has flags 0 and 1, not {flag}");
        Self { line, flag }
    }

    #[inline(always)]
    fn flag(&self) -> &AtomicU64 {
        &self.line.flags[self.flag & 1]
    }

    /// [`Flag::raise`].
    #[inline(always)]
    pub fn raise(&self, seq: u64) {
        // Release: synchronises with the load in `seq`.
        self.flag().store(seq, order::raise());
    }

    /// [`Flag::seq`].
    #[inline(always)]
    pub fn seq(&self) -> u64 {
        // Acquire: synchronises with the store in `raise`.
        self.flag().load(order::see())
    }

    /// Asks for the line to write it. It changes nothing but which processor has the line, and does nothing on processors
    /// that cannot be asked.
    #[inline(always)]
    pub fn claim(&self) {
        crate::arch::claim(core::ptr::from_ref(self.flag()).cast());
    }

    /// Word `place` of the value of a turn.
    #[inline(always)]
    fn word(&self, turn: u64, place: usize) -> &AtomicU64 {
        let turn = match mutated!(OneTurn) {
            true => 0,
            false => turn as usize & 1,
        };
        match place.checked_sub(1) {
            None => &self.line.first[turn][self.flag & 1],
            Some(other) => &self.line.others.0[turn][self.flag & 1][other],
        }
    }

    /// Writes the value that belongs to the owner's next [`raise`](Self::raise), which is the `turn`-th with a value.
    ///
    /// # Panics
    ///
    /// If it has more than [`VALUE_BYTES_MAX`] bytes.
    #[inline(always)]
    pub fn give(&self, turn: u64, value: &[u8]) {
        for (place, bytes) in value.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            // Relaxed: `raise` publishes it.
            self.word(turn, place)
                .store(u64::from_ne_bytes(word), Ordering::Relaxed);
        }
    }

    /// Reads the value of the `turn`-th raise with a value, for whoever has [seen](Self::seq) that.
    ///
    /// # Panics
    ///
    /// If it has more than [`VALUE_BYTES_MAX`] bytes.
    #[inline(always)]
    pub fn take(&self, turn: u64, value: &mut [u8]) {
        for (place, bytes) in value.chunks_mut(8).enumerate() {
            // Relaxed: `seq` has acquired it.
            let word = self.word(turn, place).load(Ordering::Relaxed);
            bytes.copy_from_slice(&word.to_ne_bytes()[..bytes.len()]);
        }
    }

    /// [`Flag::monitored`].
    #[inline(always)]
    pub fn monitored(&self) -> Monitored<'_> {
        Monitored::new(self.flag())
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Flag>() == crate::line::PAIR_BYTES);
#[cfg(not(loom))]
const _: () = assert!(size_of::<Exchange>() == crate::line::PAIR_BYTES);
