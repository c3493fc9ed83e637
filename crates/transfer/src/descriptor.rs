//! Descriptors: lines by which one rank tells another where long data lie, and learns that they were read.
//!
//! | descriptor | written by | access to the data |
//! | --- | --- | --- |
//! | free | – | lender |
//! | made: number k | lender | lender reads, borrower reads; [to be filled](Way::Fill): borrower writes |
//! | returned: the borrower's count has reached k | borrower | lender |
//! | revoked | lender | lender, once the borrower is not reading; at once if the borrower is another process |
//!
//! **Invariant 1:** the lender does not write what it has lent, and does not read what it has lent to be filled, until the
//! count has reached the descriptor's number, or the descriptor is revoked. **Invariant 2:** the borrower reads or writes by
//! address only between announcing that it does and saying that it has, and only if the descriptor still stands *after* the
//! announcement. With a fence on
//! both sides at least one of lender and borrower sees what the other has announced. Revoking is rare, so its fence
//! is the heavy one.
//!
//! The announcement has a line of its own, in the borrower's memory, at which the lender looks only
//! when it revokes: announcing costs a store to the borrower's own cache.
//!
//! Between processes there is no announcement, because a lender that revokes waits for no other process. **Invariant
//! 3:** what was read of another process's memory is believed only if the descriptor stands *after* it was read. The
//! lender strikes out the number before it lets go of the data, with a fence on both sides, so a borrower that has
//! read a byte of later contents finds the number gone.

#![cfg_attr(not(loom), expect(unreachable_pub, reason = "models see both ends"))]

use corecast_wire::fence::{self, FenceKind};
use corecast_wire::sync::{AtomicU32, AtomicU64, Ordering, mutated, order};
use corecast_wire::{LineRef, LineSlice, Lines, Segment};
use std::cell::Cell;
use std::sync::Arc;

/// The number of descriptors of one direction that can stand at a time: so many chunks of a bounce buffer can be on their way to
/// one rank.
pub const DESCRIPTORS: usize = if cfg!(loom) { 2 } else { 8 };

/// The number of a descriptor that the lender took back.
const REVOKED: u64 = u64::MAX;

/// One line that says where data lie and how many bytes they have.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Descriptor {
    /// The descriptor's number, which is 1 for the first one of a link. It is written last.
    number: AtomicU64,
    start: AtomicU64,
    len: AtomicU64,
    left: AtomicU64,
    tag: AtomicU32,
    way: AtomicU32,
}

// SAFETY: atomic integers: zero is their default, any bit pattern is valid, no Drop.
unsafe impl Lines for Descriptor {}

/// One line in which the borrower counts the descriptors that it has returned. Between processes it also says whether
/// the borrower can read the lender's memory, how many bytes it had read when the kernel refused, and whether it has mapped
/// the lender's heap.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub(crate) struct Acks {
    count: AtomicU64,
    reads: AtomicU32,
    done: AtomicU64,
    maps: AtomicU32,
}

/// The values of `Acks::reads`: 0 says nothing, `READS` that the borrower can read the lender's memory, `REFUSED`
/// that it cannot any more.
const READS: u32 = 1;
const REFUSED: u32 = 2;

// SAFETY: as above.
unsafe impl Lines for Acks {}

/// One line whose word is 1 while the borrower may be reading.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub(crate) struct Reading(AtomicU32);

// SAFETY: as above.
unsafe impl Lines for Reading {}

/// The contents of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorFields {
    /// An address, or an offset in memory of the lender; `way` says which.
    pub start: u64,
    /// Bytes that this descriptor names.
    pub len: u64,
    /// Bytes from here to the end of what is lent, this descriptor's included.
    pub left: u64,
    /// The lender's tag.
    pub tag: u32,
    /// How the borrower gets at the bytes.
    pub way: Way,
}

/// How a borrower gets at the bytes that a descriptor names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It reads them at an address of this process, or at an offset in the lender's bounce buffer.
    InPlace,
    /// It has the kernel copy them from an address of the lender's process.
    KernelCopy,
    /// It copies them from an offset in the lender's symmetric memory, which it has mapped.
    Symmetric,
    /// It copies them from an offset in the heap of the lender's process, which it has mapped.
    Heap,
    /// It copies them from a region that both processes have; `start` says which one, and the offset in it.
    Region,
    /// It writes them at an address of this process.
    Fill,
}

impl Way {
    /// The way that another process may have written. Any other number is that of a corrupt process: whatever it names
    /// is checked against the length of its symmetric memory.
    fn of(number: u32) -> Self {
        match number {
            0 => Self::InPlace,
            1 => Self::KernelCopy,
            3 => Self::Heap,
            4 => Self::Region,
            5 => Self::Fill,
            _ => Self::Symmetric,
        }
    }
}

/// The lender's end of one direction.
#[derive(Debug)]
pub struct Lender {
    descriptors: LineSlice<Descriptor>,
    acks: LineRef<Acks>,
    reading: LineRef<Reading>,
    fence: FenceKind,
    /// Descriptors made so far.
    made: u64,
    /// The number of descriptors that were returned when the lender last looked.
    regained: Cell<u64>,
}

impl Lender {
    /// `fence` is the kind that threads of this process use.
    pub(crate) fn new(
        descriptors: LineSlice<Descriptor>,
        acks: LineRef<Acks>,
        reading: LineRef<Reading>,
        fence: FenceKind,
    ) -> Self {
        assert_eq!(descriptors.len(), DESCRIPTORS);
        Self {
            descriptors,
            acks,
            reading,
            fence,
            made: 0,
            regained: Cell::new(0),
        }
    }

    /// The segment in which the borrower returns descriptors, and which it so keeps alive. It is this rank's own.
    pub(crate) fn segment(&self) -> &Arc<Segment> {
        self.acks.segment()
    }

    /// The number of descriptors made so far, which is the number of the last one.
    #[inline]
    pub fn made(&self) -> u64 {
        self.made
    }

    /// The number of descriptors that were returned. A count above the number of descriptors made, which only a
    /// corrupt process writes, is ignored.
    #[inline]
    pub fn returned(&self) -> u64 {
        // Acquire: synchronises with the Release in `Borrower::give_back`: the borrower's reads come
        // before whatever is written to the data now (Invariant 1).
        let count = self.acks.count.load(order::regain());
        if count <= self.made {
            self.regained.set(count);
        }
        self.regained.get()
    }

    /// Whether one more descriptor can be made. Reads the acknowledgement line only when all descriptors seem to
    /// stand.
    #[inline]
    pub fn has_room(&self) -> bool {
        let standing = |returned| self.made.saturating_sub(returned);
        standing(self.regained.get()) < DESCRIPTORS as u64
            || standing(self.returned()) < DESCRIPTORS as u64
    }

    /// Makes a descriptor, whose number is then [`Lender::made`]. The caller has checked that there is room. It is
    /// not asserted here, because another process may write the count meanwhile.
    #[inline]
    pub fn offer(&mut self, said: DescriptorFields) {
        let descriptor = &self.descriptors[self.made as usize % DESCRIPTORS];
        self.made += 1;
        // Relaxed: published by the number below.
        descriptor.start.store(said.start, Ordering::Relaxed);
        descriptor.len.store(said.len, Ordering::Relaxed);
        descriptor.left.store(said.left, Ordering::Relaxed);
        descriptor.tag.store(said.tag, Ordering::Relaxed);
        descriptor.way.store(said.way as u32, Ordering::Relaxed);
        // Release: synchronises with the Acquire in `Borrower::look`: the data come before it.
        descriptor.number.store(self.made, order::descriptor());
    }

    /// Whether the borrower is another process and can read this one's memory.
    #[inline]
    pub fn is_read(&self) -> bool {
        // Relaxed: at first it is a hint, and a borrower that cannot read says so when it tries. It writes that
        // before it counts the descriptor as returned, so a lender that has seen the count lends nothing by kernel
        // copy any more.
        self.acks.reads.load(Ordering::Relaxed) == READS
    }

    /// Whether the borrower has mapped the heap of this process.
    #[inline]
    pub fn is_mapped(&self) -> bool {
        // Relaxed: a borrower that says so has mapped the heap for good, and nothing else is published by it.
        self.acks.maps.load(Ordering::Relaxed) == 1
    }

    /// The number of bytes that the borrower had read of the descriptor that it returned last, if the kernel has
    /// refused the rest.
    pub fn refused(&self) -> Option<u64> {
        // Relaxed: written before the count, which the caller has seen.
        let refused = self.acks.reads.load(Ordering::Relaxed) == REFUSED;
        refused.then(|| self.acks.done.load(Ordering::Relaxed))
    }

    /// Takes all standing descriptors back from another process, without waiting for it. The borrower may read on,
    /// but checks afterwards whether the descriptor stood ([`Borrower::stands`], Invariant 3).
    #[cold]
    pub fn revoke_direct(&self) {
        if !mutated!(NoStrike) {
            self.strike(1);
        }
        // The numbers are struck out before the data are written. Partner: the fence in `Borrower::stands`: a
        // borrower that reads what is written after this fence finds them struck out.
        fence::full(mutated!(StrikeUnfenced));
    }

    /// Takes the standing descriptors from number `from` on back. Returns when the borrower reads none of them. Those
    /// before stand on: an earlier operation may have lent copies that outlive it.
    #[cold]
    pub fn revoke(&self, from: u64) {
        self.strike(match mutated!(RevokesEarlier) {
            true => 1,
            false => from,
        });
        if !fence::heavy(self.fence) {
            // A borrower that has announced itself before it saw the mark is seen below once its store is visible.
            fence::settle();
        }
        // Acquire: synchronises with the Release in `Borrower::finish`: the borrower has read before.
        while self.reading.0.load(order::past()) == 1 {
            // The borrower is reading this thread's memory, perhaps in a user's operator. That is short and cannot be
            // cut off, so the lender waits.
            corecast_wire::sync::yield_now();
        }
    }

    fn strike(&self, from: u64) {
        let standing = self.made.saturating_sub(DESCRIPTORS as u64);
        for before in (standing.max(from - 1)..self.made).rev() {
            // Relaxed: ordered by the fence that follows (Invariants 2 and 3).
            let descriptor = &self.descriptors[before as usize % DESCRIPTORS];
            descriptor.number.store(REVOKED, Ordering::Relaxed);
        }
    }
}

/// The borrower's end of one direction.
#[derive(Debug)]
pub struct Borrower {
    descriptors: LineSlice<Descriptor>,
    acks: LineRef<Acks>,
    reading: LineRef<Reading>,
    fence: FenceKind,
    /// Descriptors returned so far.
    taken: u64,
}

impl Borrower {
    /// `fence` is the kind that threads of this process use.
    pub(crate) fn new(
        descriptors: LineSlice<Descriptor>,
        acks: LineRef<Acks>,
        reading: LineRef<Reading>,
        fence: FenceKind,
    ) -> Self {
        assert_eq!(descriptors.len(), DESCRIPTORS);
        Self {
            descriptors,
            acks,
            reading,
            fence,
            taken: 0,
        }
    }

    fn next(&self) -> &Descriptor {
        &self.descriptors[self.taken as usize % DESCRIPTORS]
    }

    /// The next descriptor, if it has been made.
    #[inline]
    pub fn look(&self) -> Option<DescriptorFields> {
        let descriptor = self.next();
        // Acquire: synchronises with the Release in `Lender::offer`.
        if descriptor.number.load(order::accept()) != self.taken + 1 {
            return None;
        }
        Some(DescriptorFields {
            start: descriptor.start.load(Ordering::Relaxed),
            len: descriptor.len.load(Ordering::Relaxed),
            left: descriptor.left.load(Ordering::Relaxed),
            tag: descriptor.tag.load(Ordering::Relaxed),
            way: Way::of(descriptor.way.load(Ordering::Relaxed)),
        })
    }

    /// Announces that this thread reads what the next descriptor names, until it [`finish`](Self::finish)es;
    /// `false` if it was revoked, and nothing may be read.
    #[inline]
    pub fn begin(&self) -> bool {
        // Relaxed: comes before the load below by the fence (Invariant 2).
        self.reading.0.store(1, Ordering::Relaxed);
        fence::light(self.fence);
        // Relaxed: `look` has acquired what this descriptor says.
        let stands = self.next().number.load(Ordering::Relaxed) == self.taken + 1;
        if !stands {
            self.finish();
        }
        stands
    }

    /// Says that this process can read the lender's memory.
    pub fn reads(&self) {
        // Relaxed: a hint.
        self.acks.reads.store(READS, Ordering::Relaxed);
    }

    /// Says that this process has mapped the heap of the lender's.
    pub fn maps(&self) {
        // Relaxed: see `Lender::is_mapped`.
        self.acks.maps.store(1, Ordering::Relaxed);
    }

    /// Records that the kernel refused after `done` bytes of the next descriptor, which the caller then acknowledges.
    #[cold]
    pub fn refuse(&self, done: u64) {
        // Relaxed: published by the count that follows.
        self.acks.done.store(done, Ordering::Relaxed);
        self.acks.reads.store(REFUSED, Ordering::Relaxed);
    }

    /// Whether the next descriptor, which another process made, has stood until now. If so, the bytes that were read
    /// are those that were lent (Invariant 3).
    pub fn stands(&self) -> bool {
        // The data were read before. Partner: the fence in `Lender::revoke_direct`.
        fence::full(mutated!(LookUnfenced));
        // Relaxed: ordered by the fence; `look` has acquired what this descriptor says.
        let number = self.next().number.load(Ordering::Relaxed);
        number == self.taken + 1 || mutated!(NoLook)
    }

    /// Announces that this thread reads nothing any more.
    #[inline]
    pub fn finish(&self) {
        // Release: synchronises with the Acquire in `Lender::revoke`: the data were read before.
        self.reading.0.store(0, order::finish());
    }

    /// Returns the descriptor.
    #[inline]
    pub fn give_back(&mut self) {
        self.taken += 1;
        // Release: synchronises with the Acquire in `Lender::returned`: the data were read before.
        self.acks.count.store(self.taken, order::hand_back());
    }
}

/// A link in one direction, for models.
#[cfg(loom)]
pub fn link() -> (Lender, Borrower) {
    let descriptors: LineSlice<Descriptor> = {
        let memory = Segment::new(0, None).expect("models have memory");
        memory.lines(DESCRIPTORS).expect("models have memory")
    };
    let acks: LineRef<Acks> = Segment::one(None).expect("models have memory");
    let reading: LineRef<Reading> = Segment::one(None).expect("models have memory");
    let fence = FenceKind::Symmetric;
    let lender = Lender::new(descriptors.clone(), acks.clone(), reading.clone(), fence);
    (lender, Borrower::new(descriptors, acks, reading, fence))
}
