//! What a rank is doing, written for those who wait for it too long.
//!
//! A member writes two words of its own line when it enters an operation; nobody else touches that
//! line in ordinary times, so that costs two stores to the core's own cache. Whoever has waited
//! for a while reads it, and can say where the other one is.
//!
//! **Invariant 1:** the call site of operation number s lies in entry s mod 2, and is written
//! before the word of s. So a reader that finds the same word before and after it has read the
//! entry has read the site of that word: the entry is overwritten by operation s + 2 only, after
//! the word of s + 1 was written.

use crate::segment::Lines;
use crate::sync::{AtomicU32, AtomicU64, Ordering, order};
use std::panic::Location;

/// An operation: its number in the life of the team, and what it is, in the words of the layer
/// above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// 1 for the first operation; 0 before it. The lower 32 bits count.
    pub seq: u32,
    /// What is done.
    pub what: u32,
}

/// Whether somebody speaks for a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Presence {
    /// Nobody yet.
    Absent = 0,
    /// A member.
    Present = 1,
    /// It has left.
    Left = 2,
    /// It has left in a panic.
    Panicked = 3,
}

/// One rank's line: written by its member, read by all.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Diary {
    entry: AtomicU64,
    sites: [AtomicSite; 2],
    joined_at: AtomicSite,
    presence: AtomicU32,
}

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

    fn load(&self, ordering: Ordering) -> Option<&'static Location<'static>> {
        let address = self.0.load(ordering) as usize;
        // SAFETY: the word is 0 or was stored by `store` from a reference that lives for ever;
        // a location is immutable, so no ordering is needed to read it.
        unsafe { core::ptr::with_exposed_provenance::<Location<'static>>(address).as_ref() }
    }
}

// SAFETY: atomic integers, zero by default (`Absent`, no sites), no Drop.
unsafe impl Lines for Diary {}

impl Diary {
    /// Owner: enters an operation.
    #[inline(always)]
    pub fn enter(&self, entry: Entry, site: &'static Location<'static>) {
        let place = &self.sites[entry.seq as usize & 1];
        // Release: synchronises with the Acquire of the site in `read`: whoever sees this site
        // also sees the word of the operation before (Invariant 1).
        place.store(site, order::note());
        // Release: synchronises with the Acquire in `read`. It publishes the site, and also that
        // every message of earlier operations has been sent.
        self.entry.store(
            u64::from(entry.what) << 32 | u64::from(entry.seq),
            Ordering::Release,
        );
    }

    /// Anybody: the operation that the owner entered last, and where, unless it went on meanwhile.
    pub fn read(&self) -> (Entry, Option<&'static Location<'static>>) {
        // Acquire: synchronises with the Release in `enter`.
        let before = self.entry.load(Ordering::Acquire);
        let entry = Entry {
            seq: before as u32,
            what: (before >> 32) as u32,
        };
        // Acquire: synchronises with the Release of the site in `enter`, so that the second look
        // comes after it and finds what belongs to it.
        let site = self.sites[entry.seq as usize & 1].load(Ordering::Acquire);
        // Relaxed: compared only.
        let unchanged = self.entry.load(Ordering::Relaxed) == before;
        (entry, site.filter(|_| unchanged && entry.seq != 0))
    }

    /// Says whether somebody speaks for this rank, and where that began or ended.
    pub fn set_presence(&self, presence: Presence, site: Option<&'static Location<'static>>) {
        if let Some(site) = site {
            // Relaxed: ordered by the Release below.
            self.joined_at.store(site, Ordering::Relaxed);
        }
        // Release: synchronises with the Acquire in `presence`: what a member sent before it left
        // is visible to whoever sees that it left.
        self.presence.store(presence as u32, Ordering::Release);
    }

    /// Whether somebody speaks for this rank.
    pub fn presence(&self) -> Presence {
        // Acquire: synchronises with the Release in `set_presence`.
        match self.presence.load(Ordering::Acquire) {
            0 => Presence::Absent,
            1 => Presence::Present,
            2 => Presence::Left,
            _ => Presence::Panicked,
        }
    }

    /// Where the rank was joined, once it was.
    pub fn joined_at(&self) -> Option<&'static Location<'static>> {
        // Relaxed: a location is immutable.
        self.joined_at.load(Ordering::Relaxed)
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Diary>() == crate::line::PAIR_BYTES);

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn sites_belong_to_their_entries_while_the_owner_runs_on() {
        let here = Location::caller();
        let elsewhere = elsewhere();
        let diary = crate::Segment::one::<Diary>(None).unwrap();
        let (entry, site) = diary.read();
        assert_eq!((entry.seq, site), (0, None));
        let writer = {
            let diary = diary.clone();
            std::thread::spawn(move || {
                for seq in 1..200_000u32 {
                    let site = if seq % 3 == 0 { here } else { elsewhere };
                    diary.enter(Entry { seq, what: seq ^ 5 }, site);
                }
            })
        };
        let mut last = 0;
        while last < 199_999 {
            let (entry, site) = diary.read();
            assert!(entry.seq >= last);
            last = entry.seq;
            if let Some(site) = site {
                assert_eq!(entry.what, entry.seq ^ 5);
                let expected = if entry.seq % 3 == 0 { here } else { elsewhere };
                assert_eq!(site, expected, "operation {}", entry.seq);
            }
        }
        writer.join().unwrap();
    }

    #[track_caller]
    fn elsewhere() -> &'static Location<'static> {
        Location::caller()
    }

    #[test]
    fn presence_is_told() {
        let diary = Diary::default();
        assert_eq!(diary.presence(), Presence::Absent);
        for presence in [Presence::Present, Presence::Left, Presence::Panicked] {
            diary.set_presence(presence, Some(Location::caller()));
            assert_eq!(diary.presence(), presence);
        }
        assert!(diary.joined_at().is_some());
    }
}
