//! Operation histories: lines in which a rank names its operations, for ranks that wait for it too long.
//!
//! A member writes three words of its own line when it enters an operation. No other thread touches that line in
//! ordinary times, so this costs three stores to the core's own cache. A member that has waited for a while reads
//! it, and can report the operation and call site of the other one. A member that waits for long also states there how
//! many bytes its operation has.
//!
//! **Invariant 1:** what operation number s is, and where it was called, lies in page s mod
//! [`HISTORY_LEN`], and is written before the word that names s. Page s is overwritten by operation
//! s + `HISTORY_LEN` only, after the word of s + `HISTORY_LEN` - 1 was written; so a reader that has read the
//! page and then finds a word less than that has read operation s.

use crate::segment::{LineRef, Lines};
use crate::sync::{AtomicU32, AtomicU64, Ordering, order};
use std::panic::Location;

/// An operation: its number in the life of the team, and its kind, encoded by the layer above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// 1 for the first operation; 0 before it. These are the lower 32 bits of the number, and wrap around.
    pub seq: u32,
    /// The kind of operation.
    pub what: u32,
}

/// Whether a rank has a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Presence {
    /// The rank has not joined yet.
    Absent = 0,
    /// The rank has a member.
    Present = 1,
    /// The member has left.
    Left = 2,
    /// The member has left in a panic.
    Panicked = 3,
    /// The member's process has ended without leaving.
    Died = 4,
    /// The rank has come to the end of a run of its process, and may begin another one.
    Resting = 5,
}

/// The number of operations that an operation history remembers, the current one included. One less is safe to
/// read.
#[cfg(not(loom))]
pub const HISTORY_LEN: usize = 8;
/// The fewest that a model can have.
#[cfg(loom)]
pub const HISTORY_LEN: usize = 2;

/// One rank's line: written by its member, read by all.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct OpHistory {
    entry: AtomicU64,
    sites: [AtomicSite; HISTORY_LEN],
    whats: [AtomicU32; HISTORY_LEN],
    joined_at: AtomicSite,
    presence: AtomicU32,
    /// How often the owner has rested.
    rests: AtomicU32,
    /// The number of an operation that the owner has ended, below `ENDED`; 0 before there is one.
    ended: AtomicU64,
    statement: Statement,
}

/// How many bytes an operation has on a rank, in lines of its own, which nobody writes who does not wait for long.
///
/// **Invariant 2:** while `number` changes, `bytes` is 0. So who reads the same number before and after the bytes has read
/// those of that operation.
#[derive(Debug, Default)]
#[repr(C, align(128))]
struct Statement {
    /// The number of the operation, all of its bits.
    number: AtomicU64,
    /// Its bytes plus one; 0 if they are not stated.
    bytes: AtomicU64,
}

/// The mark of a number in `ended`, as 0 is a number too.
const ENDED: u64 = 1 << 32;

/// The address of a `&'static Location`, or 0.
#[derive(Debug, Default)]
struct AtomicSite(AtomicU64);

impl AtomicSite {
    #[inline(always)]
    fn store(&self, site: &'static Location<'static>, ordering: Ordering) {
        self.0.store(
            core::ptr::from_ref(site).expose_provenance() as u64,
            ordering,
        );
    }
}

// SAFETY: atomic integers, zero by default (`Absent`, no sites), no Drop.
unsafe impl Lines for OpHistory {}

impl OpHistory {
    /// Begins after operation number `seq` instead of 0, unless an operation was entered or the history begun so
    /// before. It is for tests of numbers that wrap around.
    #[doc(hidden)]
    pub fn begin_after(&self, seq: u32) {
        // Relaxed: nobody has entered anything that this could publish.
        let (first, now) = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self.entry.compare_exchange(0, seq.into(), first, now);
    }

    /// Enters an operation. Only the owner calls this.
    #[inline(always)]
    pub fn enter(&self, entry: Entry, site: &'static Location<'static>) {
        let page = entry.seq as usize % HISTORY_LEN;
        // Release: synchronises with the Acquire in `entry_at`: a reader that sees these also sees the word of the
        // operation before (Invariant 1).
        self.sites[page].store(site, order::note());
        self.whats[page].store(entry.what, order::note());
        // Release: synchronises with the Acquire in `now`. It publishes the page, and also that
        // every message of earlier operations has been sent.
        let word = u64::from(entry.what) << 32 | u64::from(entry.seq);
        self.entry.store(word, order::tell());
    }

    /// The operation that the owner entered last. Any rank may call this.
    #[inline]
    pub fn now(&self) -> Entry {
        // Acquire: synchronises with the Release in `enter`.
        let word = self.entry.load(order::ask());
        Entry {
            seq: word as u32,
            what: (word >> 32) as u32,
        }
    }

    /// Operation number `seq` and the word of its call site, if the owner has entered it and not gone on too far
    /// since. The word is the address of the call site in the owner's process. Any rank may call this.
    pub fn entry_at(&self, seq: u32) -> Option<(Entry, u64)> {
        // Numbers wrap around, and 0 is a number like any other. A page that was never written has no site.
        let ahead = self.now().seq.wrapping_sub(seq) as i32;
        if ahead < 0 {
            return None;
        }
        let page = seq as usize % HISTORY_LEN;
        // Acquire: synchronises with the Release in `enter`, so that the look below comes after
        // and finds at least the word that preceded what was read.
        let site = self.sites[page].0.load(order::recall());
        let what = self.whats[page].load(order::recall());
        let safe = (self.now().seq.wrapping_sub(seq) as usize) < HISTORY_LEN - 1;
        (safe && site != 0).then_some((Entry { seq, what }, site))
    }

    /// Notes that the owner has ended operation number `seq`, its last one here. A member says so that may begin no further
    /// one: it cancels, or waits for long and has others in flight. Only the owner calls this.
    pub fn note_ended(&self, seq: u32) {
        // Release: synchronises with the Acquire in `has_ended`: every message of the operation has been sent.
        self.ended.store(ENDED | u64::from(seq), order::tell());
    }

    /// Whether the owner has noted that it has ended operation number `seq`. Any rank may call this.
    pub fn has_ended(&self, seq: u32) -> bool {
        // Acquire: synchronises with the Release in `note_ended`.
        self.ended.load(order::ask()) == ENDED | u64::from(seq)
    }

    /// States how many bytes operation `number` has on this rank. Only the owner calls this, where it waits for long.
    pub fn state_bytes(&self, number: u64, bytes: usize) {
        let Statement {
            number: of,
            bytes: stated,
        } = &self.statement;
        // Relaxed: ordered by the Release below.
        stated.store(0, Ordering::Relaxed);
        // Release: synchronises with the first Acquire in `stated_bytes`, which then finds the 0 at least (Invariant 2).
        of.store(number, order::tell());
        // Release: synchronises with the second Acquire there, which then finds this number at least.
        stated.store(bytes as u64 + 1, order::tell());
    }

    /// How many bytes operation `number` has on this rank, if the owner has stated it. Any rank may call this.
    pub fn stated_bytes(&self, number: u64) -> Option<usize> {
        let Statement {
            number: of,
            bytes: stated,
        } = &self.statement;
        // Acquire, both: they synchronise with the Releases in `state_bytes`.
        if of.load(order::ask()) != number {
            return None;
        }
        let bytes = stated.load(order::ask()).checked_sub(1)?;
        // Relaxed: ordered by the Acquire above.
        (of.load(Ordering::Relaxed) == number).then_some(bytes as usize)
    }

    /// Notes that the owner rests: it waits for long, and all that it has given so far can be seen. Only the owner calls this.
    pub fn rest(&self) {
        // Relaxed: nobody else writes it. Release: synchronises with the Acquire in `rests`.
        let rests = self.rests.load(Ordering::Relaxed);
        self.rests.store(rests.wrapping_add(1), order::tell());
    }

    /// How often the owner has rested; the number wraps around. Who reads a higher one than before sees all that the owner
    /// gave before it read the lower one. Any rank may call this.
    pub fn rests(&self) -> u32 {
        // Acquire: synchronises with the Release in `rest`.
        self.rests.load(order::ask())
    }

    /// Records whether the rank has a member and, if `site` is given, the call site where the member joined or
    /// left.
    pub fn set_presence(&self, presence: Presence, site: Option<&'static Location<'static>>) {
        if let Some(site) = site {
            // Relaxed: ordered by the Release below.
            self.joined_at.store(site, Ordering::Relaxed);
        }
        // Release: synchronises with the Acquire in `presence`: what a member sent before it left is visible to a
        // reader that sees that it left.
        self.presence.store(presence as u32, order::tell());
    }

    /// Whether the rank has a member.
    pub fn presence(&self) -> Presence {
        // Acquire: synchronises with the Release in `set_presence`.
        match self.presence.load(order::ask()) {
            0 => Presence::Absent,
            1 => Presence::Present,
            2 => Presence::Left,
            4 => Presence::Died,
            5 => Presence::Resting,
            _ => Presence::Panicked,
        }
    }

    /// The word of the call site that was recorded last; 0 before there is one.
    pub fn joined_word(&self) -> u64 {
        // Relaxed: a location is immutable.
        self.joined_at.0.load(Ordering::Relaxed)
    }
}

impl LineRef<OpHistory> {
    /// [`OpHistory::entry_at`] with the call site itself; `None` where something else may write the operation history:
    /// other processes, whose call sites are not in this one, or whoever has a view of its segment
    /// ([`Segment::at`](crate::Segment::at)). From now on nobody gets one.
    pub fn read_at(&self, seq: u32) -> Option<(Entry, &'static Location<'static>)> {
        let (entry, word) = self.entry_at(seq)?;
        Some((entry, self.locate(word)?))
    }

    /// The call site that was recorded last; `None` before there is one, and in the cases of
    /// [`read_at`](Self::read_at).
    pub fn joined_at(&self) -> Option<&'static Location<'static>> {
        self.locate(self.joined_word())
    }

    fn locate(&self, word: u64) -> Option<&'static Location<'static>> {
        if !self.segment().keep_for_addresses() {
            return None;
        }
        // SAFETY: no other process can write this memory, and no view lies over it, so the word is 0 or was stored
        // by `AtomicSite::store` from a reference that lives for ever; a location is immutable, so no ordering is
        // needed to read it.
        unsafe { core::ptr::with_exposed_provenance::<Location<'static>>(word as usize).as_ref() }
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<OpHistory>() == 2 * crate::line::PAIR_BYTES);

#[cfg(all(test, not(loom)))]
mod tests;
