//! [`ReaderLock`]: a lock for one writer or many readers, each of whom has a line of its own.
//!
//! A reader writes its own line and reads one that all share, so readers do not disturb each other. The number of slots is
//! fixed; they are taken and given back while the lock is used.
//!
//! | word | a reader | a writer |
//! | --- | --- | --- |
//! | free | says in its line that it reads, passes the light fence, and looks at the word | exchanges the word, passes the heavy fence, and waits until no line says that somebody reads |
//! | fenced | the same, and then again with a full fence; after many such reads it makes the word free | the same without a heavy fence: the exchange is one |
//! | written, poisoned | is refused | is refused |
//!
//! So reads cost no fence while writers are rare, and writers cost no system call while they are frequent: a writer that had to pass
//! the heavy fence leaves the word fenced. Where the kernel refuses the light fence the word is never free. One that is alone, as no other slot is taken, needs no fence, and waits for nobody.
//!
//! The dangerous interleaving: a reader looks (no writer), a writer takes the word and looks at the lines (no reader), and
//! both go on. **Invariant 1:** the reader's store precedes its look, and the writer's exchange precedes its looks, in the eyes of the
//! other: by the light and the heavy fence, or since all four accesses are `SeqCst`. So at least one of the two sees the other. A
//! reader knows only then which fence the next writer needs of it: a word that is free after a light fence is taken by nobody who does not pass
//! the heavy one.
//!
//! **Invariant 2:** a writer looks at all slots that were ever taken. Whoever takes a slot says so and raises their number, and passes a
//! full fence, before it reads for the first time. So a writer that has not seen the new slot is seen by the new reader.
//!
//! **Invariant 3:** whoever holds the word has the value alone from the moment at which all lines were found silent, because
//! readers that come later see the word. Whoever reads has seen no writer after it said that it reads.
//!
//! A lock waits for nobody itself: it tells whether it was taken, and callers wait by their wait strategies.

use crate::fence::{self, FenceKind};
use crate::line::Line;
use crate::sync::{AtomicU32, Ordering, UnsafeCell, model_failed, mutated, order, panicking};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Readers pass a light fence.
const FREE: u32 = 0;
const WRITER: u32 = 1;
/// A writer has panicked.
const POISONED: u32 = 2;
/// Readers pass a full fence.
const FENCED: u32 = 3;

/// Reads with a full fence until one without is tried again: their fences took about as long as a heavy fence, which the next
/// writer then needs (5 to 8 ns against 5 to 40 µs).
const FENCED_READS: u32 = if cfg!(loom) { 1 } else { 4096 };

/// A value that one writer changes or that many readers look at.
pub struct ReaderLock<T> {
    word: Line<AtomicU32>,
    fence: FenceKind,
    /// The number of slots that were ever taken: they are the first ones.
    used: AtomicU32,
    /// Whether each slot is taken.
    taken: Box<[AtomicU32]>,
    /// Whether the owner of each slot reads.
    reading: Box<[Arc<Line<AtomicU32>>]>,
    value: Line<UnsafeCell<T>>,
}

// SAFETY: readers share the value and writers move it between threads, one at a time (Invariant 3).
unsafe impl<T: Send + Sync> Sync for ReaderLock<T> {}

// SAFETY: the lock owns the value.
unsafe impl<T: Send> Send for ReaderLock<T> {}

/// A place from which one thread at a time reads.
pub struct ReaderSlot<T> {
    lock: Arc<ReaderLock<T>>,
    index: usize,
    /// Its line in `reading`.
    own: Arc<Line<AtomicU32>>,
    /// Reads with a full fence since the last one without.
    fenced_reads: u32,
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
        write!(f, "ReaderLock({} slots)", self.taken.len())
    }
}

impl<T> fmt::Debug for ReaderSlot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReaderSlot({})", self.index)
    }
}

impl<T> ReaderLock<T> {
    /// A lock with this many slots.
    pub fn new(value: T, slots: usize) -> Self {
        let fence = fence::fence_kind();
        // Where readers have no light fence the word is never free.
        let first = if fence.is_asymmetric() { FREE } else { FENCED };
        Self {
            word: Line(AtomicU32::new(first)),
            fence,
            used: AtomicU32::new(0),
            taken: (0..slots).map(|_| AtomicU32::new(0)).collect(),
            reading: (0..slots)
                .map(|_| Arc::new(Line(AtomicU32::new(0))))
                .collect(),
            value: Line(UnsafeCell::new(value)),
        }
    }

    /// Takes a free slot. `None` if there is none.
    pub fn slot(self: &Arc<Self>) -> Option<ReaderSlot<T>> {
        let free = |slot: &AtomicU32| {
            // SeqCst: Invariant 2. It synchronises with the store that gave the slot back, so its line is silent.
            let (taken, not) = (Ordering::SeqCst, Ordering::Relaxed);
            slot.compare_exchange(0, 1, taken, not).is_ok()
        };
        let index = self.taken.iter().position(free)?;
        // SeqCst: Invariant 2.
        self.used.fetch_max(index as u32 + 1, Ordering::SeqCst);
        fence::full(false);
        let (lock, own) = (Arc::clone(self), Arc::clone(&self.reading[index]));
        Some(ReaderSlot {
            lock,
            index,
            own,
            fenced_reads: 0,
        })
    }

    /// The number of slots that were ever taken: their indices are below it.
    #[inline]
    pub fn slots_used(&self) -> usize {
        // Relaxed: a caller that needs a slot's newest news has been told of them by other means.
        self.used.load(Ordering::Relaxed) as usize
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

    /// As [`ReaderSlot::try_write`], for a thread without a slot.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub fn try_write(
        &self,
        wait: impl FnOnce(&mut dyn FnMut() -> bool) -> bool,
    ) -> Result<WriteGuard<'_, T>, Refused> {
        self.write(usize::MAX, wait)
    }

    /// Takes the lock for the owner of this slot, which does not read.
    #[inline]
    fn write(
        &self,
        own: usize,
        wait: impl FnOnce(&mut dyn FnMut() -> bool) -> bool,
    ) -> Result<WriteGuard<'_, T>, Refused> {
        // Relaxed: the exchange decides. A look spares others the line.
        let seen = self.word.load(Ordering::Relaxed);
        if seen != FREE && seen != FENCED {
            return Err(refused(seen));
        }
        // SeqCst (Invariant 1), and it synchronises with the store that ended the last writing.
        let (taken, not) = (Ordering::SeqCst, Ordering::Relaxed);
        if let Err(seen) = self.word.compare_exchange(seen, WRITER, taken, not) {
            return Err(refused(seen));
        }
        let mut guard = WriteGuard {
            lock: self,
            after: seen,
        };
        #[cfg(loom)]
        fence::full(mutated!(WriterUnfenced));
        if self.is_alone(own) {
            return Ok(guard);
        }
        if seen == FREE {
            guard.after = FENCED;
            self.fence_readers();
        }
        if !self.is_quiet() && !mutated!(ReadersUnawaited) && !wait(&mut || self.is_quiet()) {
            return Err(Refused::Busy);
        }
        Ok(guard)
    }

    /// Passes a full fence for the reader of a line, and looks at the word again.
    #[inline(always)]
    fn fenced(&self, own: &AtomicU32, fenced_reads: &mut u32) -> u32 {
        // SeqCst: Invariant 1.
        #[cfg(not(loom))]
        own.swap(1, Ordering::SeqCst);
        #[cfg(loom)]
        {
            own.store(1, Ordering::Relaxed);
            fence::full(mutated!(ReaderUnfenced));
        }
        *fenced_reads = fenced_reads.wrapping_add(1);
        if *fenced_reads >= FENCED_READS && self.fence.is_asymmetric() {
            *fenced_reads = 0;
            // Relaxed: it continues the release sequence of the last writer.
            let (free, not) = (Ordering::Relaxed, Ordering::Relaxed);
            let _ = self.word.compare_exchange(FENCED, FREE, free, not);
        }
        // SeqCst: as the look before.
        self.word.load(Ordering::SeqCst)
    }

    /// Orders the readers that pass light fences.
    #[cold]
    #[inline(never)]
    fn fence_readers(&self) {
        if !mutated!(WriterUnfenced) && !fence::heavy(self.fence) {
            fence::settle();
        }
    }

    /// Whether no slot but `own` is taken, for the holder of the word.
    #[inline]
    fn is_alone(&self, own: usize) -> bool {
        // SeqCst, both: Invariant 2. The second one synchronises with the store by which the slot was given back.
        let used = self.used.load(Ordering::SeqCst) as usize;
        let mut slots = self.taken[..used].iter().enumerate();
        slots.all(|(slot, taken)| slot == own || taken.load(Ordering::SeqCst) == 0)
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

impl<T> ReaderSlot<T> {
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
    /// A store to the slot's own line, and a load of a line that only writers change. A full fence and a load more while writers are
    /// frequent.
    #[inline(always)]
    pub fn try_read(&mut self) -> Result<ReadGuard<'_, T>, Refused> {
        let (lock, own) = (&*self.lock, &*self.own);
        // Relaxed: the fences order it (Invariant 1).
        own.store(1, Ordering::Relaxed);
        if !mutated!(ReaderUnfenced) {
            fence::light(FenceKind::Asymmetric);
        }
        let guard = ReadGuard(lock, own);
        // SeqCst: Invariant 1. It synchronises with the store that ended the last writing.
        let mut word = lock.word.load(Ordering::SeqCst);
        if word == FENCED {
            word = lock.fenced(own, &mut self.fenced_reads);
        }
        match word {
            FREE | FENCED => Ok(guard),
            _ => Err(refused(word)),
        }
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
    /// An exchange of a line that readers share, and loads of what tells whether other slots are taken. If they are, a load of the line of each
    /// slot; and a system call if there was no writer for thousands of reads.
    #[inline]
    pub fn try_write(
        &mut self,
        wait: impl FnOnce(&mut dyn FnMut() -> bool) -> bool,
    ) -> Result<WriteGuard<'_, T>, Refused> {
        self.lock.write(self.index, wait)
    }
}

impl<T> Drop for ReaderSlot<T> {
    fn drop(&mut self) {
        if model_failed() {
            return;
        }
        // Release: synchronises with the exchange that takes the slot again.
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
pub struct WriteGuard<'a, T> {
    lock: &'a ReaderLock<T>,
    /// What the word is afterwards.
    after: u32,
}

impl<T> Deref for WriteGuard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: this guard has the value alone (Invariant 3).
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for WriteGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard has the value alone (Invariant 3).
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Drop for WriteGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if model_failed() {
            return;
        }
        let word = if panicking() { POISONED } else { self.after };
        // Release: synchronises with the exchange of the next writer and the loads of readers. An exchange, because x86-64 finishes
        // a thread's earlier stores for it. After a store they could still be on their way when the caller reads a clock, and by that
        // clock a thread that begins to read later, for as long as a line takes to come, would miss what was written.
        self.lock.word.swap(word, order::unlock());
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
