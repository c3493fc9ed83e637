//! [`SharedLog`]: a log to which any thread appends, and that several readers follow, each at its own pace.
//!
//! ```text
//!  window      ┌─────────┐   ┌─────────┐   ┌─────────┐
//!  (a mutex) ─►│ block 4 │   │ block 5 │   │ block 6 │      one addition to `end` reserves entries,
//!              └─────────┘   └─────────┘   └─────────┘      each is written once, by whoever reserved it
//!                   ▲             ▲             ▲
//!                a cursor      a cursor        end
//! ```
//!
//! Entries lie in blocks, which the window and the cursors that are in them keep alive. So an entry is dropped when the window
//! was trimmed past its block and no cursor is in that any more, and a cursor that nobody moves keeps one block, not the
//! log. The window's mutex is taken once per block and cursor.
//!
//! **Invariant 1:** an entry is written by the thread that reserved it, before it says so; from then on it does not
//! change. The dangerous interleaving is a reader that comes between reservation and writing: it looks at the entry's own word, never
//! at the end alone.
//!
//! **Invariant 2:** every entry that was reserved will be written, or marked as nothing, after a few instructions that run nobody else's
//! code. So a reader that waits for one waits for no longer than its writer is kept from running.
//!
//! **Invariant 3:** reservations are additions to one word that release and acquire. So what a thread does before it
//! looks at the end by [`SharedLog::fence`] is seen by all who reserve entries at or after the end that it got.

use crate::line::Line;
use crate::sync::{AtomicU32, AtomicU64, Mutex, Ordering, UnsafeCell, order};
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

/// Entries of a block.
#[cfg(not(loom))]
pub const BLOCK: u64 = 256;
/// Entries of a block in models.
#[cfg(loom)]
pub const BLOCK: u64 = 2;

/// A log of entries that are written once.
pub struct SharedLog<T> {
    end: Line<AtomicU64>,
    window: Line<Mutex<Window<T>>>,
}

/// The blocks that can be reached, in order.
struct Window<T> {
    /// The number of the first block.
    first: u64,
    blocks: VecDeque<Arc<Block<T>>>,
}

struct Block<T> {
    number: u64,
    entries: [Entry<T>; BLOCK as usize],
}

/// An entry has a line of its own, so that it can be written while the one before it is read.
#[repr(align(64))]
struct Entry<T> {
    /// Once it is written: the number of entries from this one to the last one that was reserved together with it.
    written: AtomicU32,
    /// `None` is an entry without anything.
    value: UnsafeCell<Option<T>>,
}

// SAFETY: an entry is moved in by one thread and read by others (Invariant 1), and dropped by whoever drops its block.
unsafe impl<T: Send + Sync> Sync for Entry<T> {}

/// What a cursor finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<T> {
    /// An entry.
    Entry(T),
    /// An entry without anything: whoever reserved it had nothing to say in the end.
    Nothing,
    /// An entry that is not written yet, or not even reserved.
    Pending,
    /// An entry before the window.
    Gone,
}

/// A place in a log: it keeps the block in which it reads, and the one in which it appended last.
pub struct Cursor<T> {
    log: Arc<SharedLog<T>>,
    reads: Arc<Block<T>>,
    appends: Arc<Block<T>>,
}

/// Blocks that outlive the window.
pub struct Kept<T>(Vec<Arc<Block<T>>>);

/// Values that are appended side by side.
pub trait Together<T> {
    /// They, in their order.
    fn all(&self) -> &[T];
    /// Takes them out.
    fn take_all(&mut self) -> impl Iterator<Item = T>;
}

impl<T> Together<T> for Vec<T> {
    fn all(&self) -> &[T] {
        self
    }

    fn take_all(&mut self) -> impl Iterator<Item = T> {
        self.drain(..)
    }
}

/// One value moves to the log at once. From a list it would be read back as soon as it was written, and in pieces of other sizes, for
/// which a processor waits.
impl<T> Together<T> for Option<T> {
    #[inline(always)]
    fn all(&self) -> &[T] {
        self.as_slice()
    }

    #[inline(always)]
    fn take_all(&mut self) -> impl Iterator<Item = T> {
        self.take().into_iter()
    }
}

/// Entries that were appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Their numbers.
    pub range: Range<u64>,
    /// Whether one of them is the first entry of a block.
    pub began_block: bool,
}

impl<T> Block<T> {
    fn new(number: u64) -> Arc<Self> {
        let entry = |_| Entry {
            written: AtomicU32::new(0),
            value: UnsafeCell::new(None),
        };
        Arc::new(Self {
            number,
            entries: std::array::from_fn(entry),
        })
    }

    #[inline(always)]
    fn entry(&self, index: u64) -> &Entry<T> {
        &self.entries[(index % BLOCK) as usize]
    }
}

impl<T> Window<T> {
    /// The block of this number, which is made where it lies ahead. `None` if it lies before the window.
    fn block(&mut self, number: u64) -> Option<Arc<Block<T>>> {
        let place = number.checked_sub(self.first)? as usize;
        while self.blocks.len() <= place {
            let next = self.first + self.blocks.len() as u64;
            self.blocks.push_back(Block::new(next));
        }
        Some(Arc::clone(&self.blocks[place]))
    }
}

impl<T> SharedLog<T> {
    /// An empty log.
    pub fn new() -> Self {
        let (first, blocks) = (0, VecDeque::new());
        Self {
            end: Line(AtomicU64::new(0)),
            window: Line(Mutex::new(Window { first, blocks })),
        }
    }

    fn with_window<R>(&self, body: impl FnOnce(&mut Window<T>) -> R) -> R {
        body(&mut self.window.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The number of entries that were reserved so far.
    ///
    /// # Cost
    ///
    /// One load of a line that every append changes.
    #[inline(always)]
    pub fn end(&self) -> u64 {
        // Acquire: synchronises with the addition of whoever reserved the last of them.
        self.end.load(Ordering::Acquire)
    }

    /// The number of entries that were reserved so far. Whoever reserves later ones sees all that the caller did before
    /// (Invariant 3).
    pub fn fence(&self) -> u64 {
        // AcqRel: Invariant 3.
        self.end.fetch_add(0, order::reserve())
    }

    /// A cursor for the entry of this number. `None` if that lies before the window.
    pub fn cursor(self: &Arc<Self>, index: u64) -> Option<Cursor<T>> {
        let reads = self.with_window(|window| window.block(index / BLOCK))?;
        Some(Cursor {
            log: Arc::clone(self),
            appends: Arc::clone(&reads),
            reads,
        })
    }

    /// Forgets blocks that lie wholly before the entry of this number. Entries are dropped with the last cursor in their block.
    pub fn trim(&self, index: u64) {
        let mut dropped = Vec::new();
        self.with_window(|window| {
            while window.first < index / BLOCK {
                window.first += 1;
                dropped.extend(window.blocks.pop_front());
            }
        });
        // Entries are dropped without the mutex, as that may run foreign code.
        drop(dropped);
    }

    /// Makes the block after the one of this entry, so that those who append there find it.
    ///
    /// # Cost
    ///
    /// Memory for a block, which is made without the window's mutex.
    pub fn prepare_after(&self, index: u64) {
        let number = index / BLOCK + 1;
        let next = |window: &Window<T>| window.first + window.blocks.len() as u64;
        if self.with_window(|window| next(window)) == number {
            let block = Block::new(number);
            self.with_window(|window| {
                if next(window) == number {
                    window.blocks.push_back(block);
                }
            });
        }
    }

    /// The blocks of these entries, to be kept from trimming.
    pub fn keep(&self, entries: Range<u64>) -> Kept<T> {
        let blocks = entries.start / BLOCK..entries.end.div_ceil(BLOCK);
        self.with_window(|window| Kept(blocks.filter_map(|number| window.block(number)).collect()))
    }
}

impl<T> Default for SharedLog<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Entries that were reserved and are not written yet. What is left when it is dropped is marked as nothing (Invariant 2).
struct Reserved<'a, T> {
    log: &'a SharedLog<T>,
    block: &'a mut Arc<Block<T>>,
    next: u64,
    end: u64,
}

impl<T> Reserved<'_, T> {
    #[inline(always)]
    fn write(&mut self, value: Option<T>) {
        debug_assert!(self.next < self.end, "an entry that was not reserved");
        let number = self.next / BLOCK;
        if self.block.number != number {
            let found = self.log.with_window(|window| window.block(number));
            *self.block =
                found.expect("the window is not trimmed past entries that are not written");
        }
        let entry = self.block.entry(self.next);
        // SAFETY: this reservation is the only one of the entry, which is below its end and written once, as `next` goes on; nobody
        // reads before the store below (Invariant 1).
        entry.value.with_mut(|place| unsafe { *place = value });
        let together =
            u32::try_from(self.end - self.next).expect("writes of one call are fewer than 2^32");
        // Release: synchronises with the load in `Cursor::look`.
        entry.written.store(together, order::append());
        self.next += 1;
    }

    /// Marks what is left as nothing.
    #[cold]
    #[inline(never)]
    fn cancel(&mut self) {
        while self.next < self.end {
            self.write(None);
        }
    }
}

impl<T> Drop for Reserved<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.next < self.end {
            self.cancel();
        }
    }
}

impl<T> Cursor<T> {
    /// Reserves an entry for each of `values`, side by side, and moves them there if `keeps` says so, knowing the numbers.
    /// Otherwise the entries have nothing in them, `values` stays as it is, and the answer is `None`. Readers of the entries wait
    /// for `keeps`, which should take no longer than some exchanges of lines.
    ///
    /// # Cost
    ///
    /// One addition to a line that all appends change, and a line written for each entry.
    #[inline(always)]
    pub fn append(
        &mut self,
        values: &mut impl Together<T>,
        keeps: impl FnOnce(&Range<u64>) -> bool,
    ) -> Option<Appended> {
        let count = values.all().len() as u64;
        // AcqRel: Invariant 3.
        let start = self.log.end.fetch_add(count, order::reserve());
        let range = start..start + count;
        {
            // It is dropped where it is: to move it takes a store and a load for nothing.
            let mut reserved = Reserved {
                log: &self.log,
                block: &mut self.appends,
                next: range.start,
                end: range.end,
            };
            if !keeps(&range) {
                return None;
            }
            for value in values.take_all() {
                reserved.write(Some(value));
            }
        }
        let began_block = range.start.next_multiple_of(BLOCK) < range.end;
        Some(Appended { range, began_block })
    }

    /// Whether the entry of this number is not written yet: then no cursor has seen it or a later one in order.
    ///
    /// # Cost
    ///
    /// One load of the entry's line, which only whoever appends it changes. Where it is the first one of a block, of the log's end.
    #[inline(always)]
    pub fn is_pending(&self, index: u64) -> bool {
        match self.reads.number == index / BLOCK {
            // Relaxed: nothing else is read, and a thread that was told of an entry cannot miss that it is written.
            true => self.reads.entry(index).written.load(Ordering::Relaxed) == 0,
            false => self.log.end() == index,
        }
    }

    /// The end of the entries that were reserved together with the entry of this number, if that is written.
    #[inline]
    pub fn end_after(&mut self, index: u64, kept: impl FnOnce() -> Option<Kept<T>>) -> Found<u64> {
        if matches!(self.look(index, kept), Found::Gone) {
            return Found::Gone;
        }
        // Relaxed: whoever reads the entries looks at their words again.
        match self.reads.entry(index).written.load(Ordering::Relaxed) {
            0 => Found::Pending,
            together => Found::Entry(index + u64::from(together)),
        }
    }

    /// Looks at the entry of this number, which may also be in a block of `kept`.
    #[inline(always)]
    pub fn look(&mut self, index: u64, kept: impl FnOnce() -> Option<Kept<T>>) -> Found<&T> {
        if self.reads.number != index / BLOCK {
            match self.block(index / BLOCK, kept) {
                Some(block) => self.reads = block,
                None => return Found::Gone,
            }
        }
        let entry = self.reads.entry(index);
        // Acquire: synchronises with the store in `Reserved::write`.
        if entry.written.load(order::follow()) == 0 {
            return Found::Pending;
        }
        // SAFETY: it is written, and does not change any more (Invariant 1). The cursor, which is borrowed, keeps the block.
        match entry.value.with(|value| unsafe { (*value).as_ref() }) {
            Some(value) => Found::Entry(value),
            None => Found::Nothing,
        }
    }

    #[cold]
    #[inline(never)]
    fn block(&self, number: u64, kept: impl FnOnce() -> Option<Kept<T>>) -> Option<Arc<Block<T>>> {
        let found = self.log.with_window(|window| window.block(number));
        found.or_else(|| kept()?.0.into_iter().find(|block| block.number == number))
    }
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for SharedLog<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedLog({} entries)", self.end())
    }
}

impl<T> fmt::Debug for Cursor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cursor(in block {})", self.reads.number)
    }
}

impl<T> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({} blocks)", self.0.len())
    }
}

#[cfg(all(test, not(any(loom, corecast_simulated))))]
mod tests;
