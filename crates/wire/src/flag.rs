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

/// The most bytes of a value beside a [`Signal`]. More would not fit the line, and a second one takes longer than a message (16
/// bytes 150 ns, a message 105; AMD EPYC, 2-core KVM guest, November 2026).
pub const VALUE_BYTES_MAX: usize = 8;

/// The flags of two threads that notify each other, in one line with values of up to eight bytes.
///
/// A thread that takes the line to raise its own flag gets the other's with it. Where both come at about the same
/// time that saves one transfer over a [`Flag`] each; where one raises and the other waits, the cost is equal; where the one that
/// waits takes the line meanwhile it is one more.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Exchange([Half; 2]);

/// What one thread writes of an [`Exchange`].
#[derive(Debug, Default)]
#[repr(C)]
struct Half {
    flag: AtomicU64,
    /// By turn.
    values: [AtomicU64; 2],
}

// SAFETY: atomic integers, of which any value is valid; zero is their default, no Drop.
unsafe impl Lines for Exchange {}

// SAFETY: as above.
unsafe impl Lines for Half {}

/// One flag of an [`Exchange`], and the values beside it.
///
/// # Examples
///
/// ```
/// use corecast_wire::{Exchange, LineRef, Segment, Signal};
///
/// let line: LineRef<Exchange> = Segment::one(None)?;
/// let [mine, theirs] = [0, 1].map(|flag| Signal::new(line.clone(), flag));
/// mine.raise(3);
/// assert_eq!((mine.seq(), theirs.seq()), (3, 0));
/// # Ok::<(), corecast_wire::SegmentError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Signal {
    half: LineRef<Half>,
}

impl Signal {
    /// Flag 0 or 1 of a line.
    ///
    /// # Panics
    ///
    /// If `flag` is neither.
    pub fn new(line: LineRef<Exchange>, flag: usize) -> Self {
        assert!(flag < 2, "a line of signals has flags 0 and 1, not {flag}");
        Self {
            half: line.part(|line| &line.0[flag]),
        }
    }

    #[inline(always)]
    fn flag(&self) -> &AtomicU64 {
        &self.half.flag
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

    /// The value of a turn.
    #[inline(always)]
    fn value(&self, turn: usize) -> &AtomicU64 {
        &self.half.values[turn & 1]
    }

    /// Asks for the line to write it. It changes nothing but which processor has the line, and does nothing on processors
    /// that cannot be asked.
    #[inline(always)]
    pub fn claim(&self) {
        crate::arch::claim(core::ptr::from_ref(self.flag()).cast());
    }

    /// [`Flag::monitored`].
    #[inline(always)]
    pub fn monitored(&self) -> Monitored<'_> {
        Monitored::new(self.flag())
    }
}

/// One thread's end of the values that two threads give each other, both at a time, by an [`Exchange`] that serves nothing else.
///
/// Whoever gets the line finds the other's value and leaves its own there for the next time, so many exchanges in a row take one
/// transfer each.
///
/// **Invariant 2:** values take turns at two places. A thread writes its value number n, then raises its flag; the other
/// one sees that, reads the value, and raises its own flag for number n + 1 afterwards. The thread has seen that before it
/// writes its value number n + 2, at the same place. So no value is written while it is read.
///
/// # Examples
///
/// ```
/// use corecast_wire::{Exchange, LineRef, Segment, Swaps};
///
/// let line: LineRef<Exchange> = Segment::one(None)?;
/// let [mut here, mut there] = [0, 1].map(|end| Swaps::new(&line, end));
/// let number = here.put(b"value");
/// here.own().raise(number);
/// there.put(b"other");
/// assert_eq!(there.other().seq(), 1);
/// let mut value = [0; 5];
/// there.get(1, &mut value);
/// assert_eq!(&value, b"value");
/// # Ok::<(), corecast_wire::SegmentError>(())
/// ```
#[derive(Debug)]
pub struct Swaps {
    own: Signal,
    other: Signal,
    count: u64,
}

impl Swaps {
    /// End 0 or 1.
    ///
    /// # Panics
    ///
    /// If `end` is neither.
    pub fn new(line: &LineRef<Exchange>, end: usize) -> Self {
        let [own, other] = [end, end ^ 1].map(|flag| Signal::new(line.clone(), flag));
        let count = 0;
        Self { own, other, count }
    }

    /// The turn of value number `number`.
    #[inline(always)]
    fn turn(number: u64) -> usize {
        match mutated!(OneTurn) {
            true => 0,
            false => number as usize,
        }
    }

    /// Writes this thread's next value, and returns its number, from 1 on. Then the thread raises its [own](Self::own) signal, to
    /// which this number belongs.
    ///
    /// # Panics
    ///
    /// If the value has more than [`VALUE_BYTES_MAX`] bytes.
    #[inline(always)]
    pub fn put(&mut self, value: &[u8]) -> u64 {
        let number = self.count + 1;
        self.count = number;
        // A whole word without a call of `memcpy`.
        let eight = match <[u8; VALUE_BYTES_MAX]>::try_from(value) {
            Ok(whole) => whole,
            Err(_) => {
                let mut eight = [0; VALUE_BYTES_MAX];
                eight[..value.len()].copy_from_slice(value);
                eight
            }
        };
        // Relaxed: `raise` publishes it.
        let word = self.own.value(Self::turn(number));
        word.store(u64::from_ne_bytes(eight), Ordering::Relaxed);
        number
    }

    /// The number of this thread's last value.
    #[inline(always)]
    pub fn number(&self) -> u64 {
        self.count
    }

    /// This thread's signal.
    #[inline(always)]
    pub fn own(&self) -> &Signal {
        &self.own
    }

    /// The other thread's signal.
    #[inline(always)]
    pub fn other(&self) -> &Signal {
        &self.other
    }

    /// Reads the other thread's value of the same `number` as this thread's last one, whose flag this thread has
    /// [seen](Signal::seq).
    ///
    /// # Panics
    ///
    /// If the value has more than [`VALUE_BYTES_MAX`] bytes.
    #[inline(always)]
    pub fn get(&self, number: u64, value: &mut [u8]) {
        // Relaxed: `seq` has acquired it.
        let word = self.other.value(Self::turn(number)).load(Ordering::Relaxed);
        let eight = word.to_ne_bytes();
        match <&mut [u8; VALUE_BYTES_MAX]>::try_from(&mut *value) {
            Ok(whole) => *whole = eight,
            Err(_) => value.copy_from_slice(&eight[..value.len()]),
        }
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Flag>() == crate::line::PAIR_BYTES);
#[cfg(not(loom))]
const _: () = assert!(size_of::<Exchange>() == crate::line::PAIR_BYTES);
