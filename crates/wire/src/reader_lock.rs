//! [`ReaderLock`]: a lock for one writer or many readers, each of whom has a line of its own.
//!
//! A reader writes its own line and reads one that all share, so readers do not disturb each other. The number of seats is
//! fixed; they are taken and given back while the lock is used.
//!
//! | who | does | by |
//! | --- | --- | --- |
//! | a reader | says in its line that it reads, then looks whether there is a writer | Dekker's order, see below |
//! | a reader that sees a writer | takes its word back, and tries later | a store |
//! | a writer | takes the word, then waits until no line says that somebody reads | a comparison and exchange, loads |
//! | a writer that does not want to wait | gives the word back | a store |
//!
//! The dangerous interleaving: a reader looks (no writer), a writer takes the word and looks at the lines (no reader), and
//! both go on. **Invariant 1:** the reader's store precedes its look, and the writer's exchange precedes its looks, in one
//! order of all of them: each is `SeqCst`. So at least one of the two sees the other.
//!
//! **Invariant 2:** a writer looks at all seats that were ever taken. Whoever takes a seat raises their number, `SeqCst`
//! too, before it reads for the first time. So a writer that has not seen the new number is seen by the new reader.
//!
//! **Invariant 3:** whoever holds the word has the value alone from the moment at which all lines were found silent, because
//! readers that come later see the word. Whoever reads has seen no writer after it said that it reads.
//!
//! A lock waits for nobody itself: it tells whether it was taken, and callers wait by their wait strategies.

use crate::fence;
use crate::line::Line;
use crate::sync::{AtomicU32, Ordering, UnsafeCell, model_failed, mutated, order, panicking};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

const FREE: u32 = 0;
const WRITER: u32 = 1;
/// A writer has panicked.
const POISONED: u32 = 2;

/// A value that one writer changes or that many readers look at.
pub struct ReaderLock<T> {
    word: Line<AtomicU32>,
    /// The number of seats that were ever taken: they are the first ones.
    used: AtomicU32,
    /// Whether each seat is taken.
    taken: Box<[AtomicU32]>,
    /// Whether the owner of each seat reads.
    reading: Box<[Line<AtomicU32>]>,
    value: Line<UnsafeCell<T>>,
}

// SAFETY: readers share the value and writers move it between threads, one at a time (Invariant 3).
unsafe impl<T: Send + Sync> Sync for ReaderLock<T> {}

// SAFETY: the lock owns the value.
unsafe impl<T: Send> Send for ReaderLock<T> {}

/// A place from which one thread at a time reads.
pub struct Seat<T> {
    lock: Arc<ReaderLock<T>>,
    index: usize,
}

/// Why a lock was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A writer has it, or, for a writer that does not wait, a reader.
    Busy,
    /// A writer has panicked: the value may be half changed.
    Poisoned,
}

impl<T> fmt::Debug for ReaderLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReaderLock({} seats)", self.taken.len())
    }
}

impl<T> fmt::Debug for Seat<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Seat({})", self.index)
    }
}

impl<T> ReaderLock<T> {
    /// A lock with this many seats.
    pub fn new(value: T, seats: usize) -> Self {
        Self {
            word: Line(AtomicU32::new(FREE)),
            used: AtomicU32::new(0),
            taken: (0..seats).map(|_| AtomicU32::new(0)).collect(),
            reading: (0..seats).map(|_| Line(AtomicU32::new(0))).collect(),
            value: Line(UnsafeCell::new(value)),
        }
    }

    /// Takes a free seat. `None` if there is none.
    pub fn seat(self: &Arc<Self>) -> Option<Seat<T>> {
        let free = |seat: &AtomicU32| {
            // Acquire: synchronises with the store that gave the seat back, so its line is silent.
            let (taken, not) = (Ordering::Acquire, Ordering::Relaxed);
            seat.compare_exchange(0, 1, taken, not).is_ok()
        };
        let index = self.taken.iter().position(free)?;
        // SeqCst: Invariant 2.
        self.used.fetch_max(index as u32 + 1, Ordering::SeqCst);
        fence::full(false);
        let lock = Arc::clone(self);
        Some(Seat { lock, index })
    }

    /// The number of seats that were ever taken: their indices are below it.
    #[inline]
    pub fn seats_used(&self) -> usize {
        // Relaxed: a caller that needs a seat's newest news has been told of them by other means.
        self.used.load(Ordering::Relaxed) as usize
    }

    /// The number of seats that are taken at the moment.
    pub fn seats_taken(&self) -> usize {
        // Relaxed: a number to look at.
        let taken = |seat: &&AtomicU32| seat.load(Ordering::Relaxed) != 0;
        self.taken.iter().filter(taken).count()
    }

    /// Whether a writer has panicked.
    pub fn is_poisoned(&self) -> bool {
        // Relaxed: whoever takes the lock looks again.
        self.word.load(Ordering::Relaxed) == POISONED
    }

    /// Whether a writer has the lock.
    #[inline(always)]
    pub fn is_written(&self) -> bool {
        // Relaxed: whoever takes the lock looks again.
        self.word.load(Ordering::Relaxed) == WRITER
    }

    /// Takes the lock for writing. Where somebody still reads, `wait` is called with a look that says whether all have
    /// gone; it returns whether it waited until then, or gives up.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    ///
    /// # Cost
    ///
    /// An exchange of a line that readers share, and a load of the line of each seat that was ever taken.
    #[inline]
    pub fn try_write(
        &self,
        wait: impl FnOnce(&mut dyn FnMut() -> bool) -> bool,
    ) -> Result<WriteGuard<'_, T>, Refused> {
        // Relaxed: the exchange decides. A look spares others the line.
        let seen = self.word.load(Ordering::Relaxed);
        if seen != FREE {
            return Err(refused(seen));
        }
        // SeqCst (Invariant 1), and it synchronises with the store that ended the last writing.
        let (taken, not) = (Ordering::SeqCst, Ordering::Relaxed);
        if let Err(seen) = self.word.compare_exchange(FREE, WRITER, taken, not) {
            return Err(refused(seen));
        }
        #[cfg(loom)]
        fence::full(mutated!(WriterUnfenced));
        if !self.is_quiet() && !mutated!(ReadersUnawaited) && !wait(&mut || self.is_quiet()) {
            // Release: hands on what the last writer did.
            self.word.store(FREE, order::unlock());
            return Err(Refused::Busy);
        }
        Ok(WriteGuard(self))
    }

    /// Whether nobody reads, for the holder of the word.
    #[inline]
    fn is_quiet(&self) -> bool {
        // SeqCst, both: Invariants 1 and 2. The second one synchronises with the store by which a reader leaves.
        let used = self.used.load(Ordering::SeqCst) as usize;
        let mut lines = self.reading[..used].iter();
        lines.all(|line| line.load(order::drained()) == 0)
    }
}

#[cold]
fn refused(word: u32) -> Refused {
    match word {
        POISONED => Refused::Poisoned,
        _ => Refused::Busy,
    }
}

impl<T> Seat<T> {
    /// Its number.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Takes the lock for reading.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    ///
    /// # Cost
    ///
    /// An exchange of the seat's own line, and a load of a line that only writers change.
    #[inline(always)]
    pub fn try_read(&mut self) -> Result<ReadGuard<'_, T>, Refused> {
        let own = &self.lock.reading[self.index];
        // SeqCst: Invariant 1.
        #[cfg(not(loom))]
        own.swap(1, Ordering::SeqCst);
        #[cfg(loom)]
        {
            own.store(1, Ordering::Relaxed);
            fence::full(mutated!(ReaderUnfenced));
        }
        // SeqCst: Invariant 1. It synchronises with the store that ended the last writing.
        let seen = self.lock.word.load(order::enter());
        let guard = ReadGuard(&self.lock, own);
        match seen {
            FREE => Ok(guard),
            _ => Err(refused(seen)),
        }
    }
}

impl<T> Drop for Seat<T> {
    fn drop(&mut self) {
        if model_failed() {
            return;
        }
        // Release: synchronises with the exchange that takes the seat again.
        self.lock.taken[self.index].store(0, Ordering::Release);
    }
}

/// The value, to look at.
pub struct ReadGuard<'a, T>(&'a ReaderLock<T>, &'a Line<AtomicU32>);

impl<T> Deref for ReadGuard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: nobody writes while this guard's line says that somebody reads (Invariant 3).
        self.0.value.with(|value| unsafe { &*value })
    }
}

impl<T> Drop for ReadGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if model_failed() {
            return;
        }
        // Release: synchronises with the loads in `is_quiet`.
        self.1.store(0, order::leave());
    }
}

/// The value, to change.
pub struct WriteGuard<'a, T>(&'a ReaderLock<T>);

impl<T> Deref for WriteGuard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: this guard has the value alone (Invariant 3).
        self.0.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for WriteGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard has the value alone (Invariant 3).
        self.0.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Drop for WriteGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if model_failed() {
            return;
        }
        let word = if panicking() { POISONED } else { FREE };
        // Release: synchronises with the exchange of the next writer and the loads of readers.
        self.0.word.store(word, order::unlock());
    }
}

impl<T> fmt::Debug for ReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReadGuard")
    }
}

impl<T> fmt::Debug for WriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WriteGuard")
    }
}

#[cfg(all(test, not(any(loom, corecast_simulated))))]
mod tests;
