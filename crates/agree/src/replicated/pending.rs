//! What a replica is told of entries before they are written: the design *stable* of reads.
//!
//! | who | does |
//! | --- | --- |
//! | a writer | reserves entries, notes them at every replica, and only then writes them in the log |
//! | a reader | reads at once if all that was noted of its key at its replica is applied there, and otherwise looks at the log |
//! | a replica that joins | is noted at by whoever reserves later, and takes all earlier entries for noted |
//!
//! So whatever anybody has been answered, or has read, was noted at every replica before, and a read misses nothing of its own key. What
//! it misses of other keys does not matter: entries that touch different keys can be exchanged, and a read is ordered before those that it
//! misses and after all that were answered. Notes are the invalidations of Hermes, and entries that are written are its *stable* ones. Its
//! acknowledgements are not messages: the memory of a replica is noted in by the writer itself, so nobody waits for a replica that
//! is slow, stopped or gone.
//!
//! The dangerous interleaving is that of a note that comes after its entry was written: a thread reads the entry at one replica, tells
//! another one, and that one finds nothing noted at its own.
//!
//! Notes only grow, and are never taken back: a note that is applied is below what the replica has applied. Keys that share a word are
//! taken to be the same.
//!
//! Where entries are not noted (the design *watermark*), a mark says so, and every read looks at the log.
//!
//! Source: Katsarakis and others, "Hermes: a Fast, Fault-Tolerant and Linearizable Replication Protocol" (ASPLOS 2020), for invalidations
//! of single keys that all replicas have before a write ends, and local reads of all others.

#[cfg(test)]
mod model;

use crate::Footprint;
use corecast_wire::Line;
use corecast_wire::sync::{AtomicU64, Ordering};

/// Words by which keys are told apart: 8 KiB. A replica of which only others write applies at the latest about when as
/// many entries as that are noted.
const WORDS: usize = if cfg!(any(loom, test)) { 2 } else { 1024 };

/// The mark that entries are not noted here: above all numbers of entries.
const UNNOTED: u64 = 1 << 63;

/// What is noted at a replica.
pub(super) struct Pending {
    /// The number of the last entry that touches everything, and one more; or of the last one that may not have been noted. With the
    /// mark, if entries are not noted.
    everything: Line<AtomicU64>,
    /// For keys: the number of the last entry that touches one of them, and one more.
    keys: Line<[AtomicU64; WORDS]>,
}

/// The word of a key.
#[inline(always)]
fn word_of(hash: u64) -> usize {
    // Hashes may be plain keys, so they are mixed: the upper bits of a product depend on all bits.
    let mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - WORDS.trailing_zeros())) as usize
}

impl Pending {
    /// Nothing is noted yet.
    pub(super) fn new() -> Self {
        Self {
            everything: Line(AtomicU64::new(UNNOTED)),
            keys: Line(std::array::from_fn(|_| AtomicU64::new(0))),
        }
    }

    /// Notes that the entry of this number, which is reserved and not written, touches `footprint`.
    ///
    /// # Cost
    ///
    /// An exchange of a line that readers of the replica look at.
    #[inline]
    pub(super) fn note(&self, footprint: Footprint, index: u64) {
        // Relaxed, here and wherever notes are changed and read: the entry is written with release afterwards, so whoever knows
        // of it, from the log or by what others say, cannot miss its note.
        match footprint {
            Footprint::Key(hash) => {
                self.keys[word_of(hash)].fetch_max(index + 1, Ordering::Relaxed)
            }
            Footprint::Everything => self.everything.fetch_max(index + 1, Ordering::Relaxed),
        };
    }

    /// Entries are noted here from now on, but those before `end` may not have been. Whoever notes later ones waits for this.
    pub(super) fn begin(&self, end: u64) {
        self.everything.store(end, Ordering::Relaxed);
    }

    /// Entries may not be noted here from now on.
    pub(super) fn cease(&self) {
        self.everything.store(UNNOTED, Ordering::Relaxed);
    }

    /// Whether a replica with this many entries has all that was noted of a footprint. If not, that says nothing.
    ///
    /// # Cost
    ///
    /// Loads of two lines of the replica's own, which change when somebody writes everything, or a key that shares a line with this one.
    #[inline(always)]
    pub(super) fn is_applied(&self, applied: u64, footprint: impl FnOnce() -> Footprint) -> bool {
        if seeded!(NotesIgnored) {
            return true;
        }
        if self.everything.load(Ordering::Relaxed) > applied && !seeded!(EverythingIgnored) {
            return false;
        }
        match footprint() {
            Footprint::Key(hash) => self.keys[word_of(hash)].load(Ordering::Relaxed) <= applied,
            // Notes of single keys are many.
            Footprint::Everything => seeded!(KeysIgnored),
        }
    }
}

/// For models, whose states are values.
#[cfg(test)]
impl Pending {
    fn words(&self) -> [u64; WORDS + 1] {
        let word = |place: usize| match place {
            WORDS => &*self.everything,
            key => &self.keys[key],
        };
        std::array::from_fn(|place| word(place).load(Ordering::Relaxed))
    }

    fn of_words(words: [u64; WORDS + 1]) -> Self {
        Self {
            everything: Line(AtomicU64::new(words[WORDS])),
            keys: Line(std::array::from_fn(|key| AtomicU64::new(words[key]))),
        }
    }
}
