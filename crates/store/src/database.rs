//! One database: keys with their values and the times at which they expire.
//!
//! Entries lie side by side in a vector, and a hash table has their places. So a random key takes one step, and a scan goes
//! down the vector: a removed entry's place is taken by the last one, which a scan that has come below it has seen.
//!
//! **Architecture invariant:** two databases that saw the same operations in the same order have the same entries at the same
//! places. Nothing here reads a clock or draws a random number.

mod snapshot;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

use siphasher::sip::SipHasher13;
use smallvec::SmallVec;

use crate::places::Places;

/// The time of a key that never expires. Keys with a time in the past are removed, so no other has it.
pub(crate) const NEVER: i64 = i64::MIN;

/// Keys come from clients, so they are hashed with numbers that these cannot know; all replicas with the same.
static HASHER: OnceLock<((u64, u64), SipHasher13)> = OnceLock::new();

fn hasher_of(numbers: (u64, u64)) -> ((u64, u64), SipHasher13) {
    let (first, second) = numbers;
    (numbers, SipHasher13::new_with_keys(first, second))
}

fn hasher() -> &'static ((u64, u64), SipHasher13) {
    HASHER.get_or_init(|| {
        let random = RandomState::new();
        hasher_of((random.hash_one(0), random.hash_one(1)))
    })
}

/// The two numbers, which nobody knows, by which this process hashes keys.
pub(crate) fn hash_numbers() -> (u64, u64) {
    hasher().0
}

/// Has keys be hashed with these numbers, in a process that is a replica of several. Returns whether none were hashed before.
pub(crate) fn set_hash_numbers(numbers: (u64, u64)) -> bool {
    HASHER.set(hasher_of(numbers)).is_ok()
}

/// Parts of hashes by which keys that were removed are told apart.
const STRIPES: usize = 4096;

/// The hash of a key.
pub(crate) fn hash(key: &[u8]) -> u64 {
    let (_, mut hasher) = *hasher();
    hasher.write(key);
    hasher.finish()
}

/// A text; a short one lies where it is held.
pub(crate) type Text = SmallVec<[u8; 16]>;

/// These bytes, copied at once: `From` goes one by one.
fn text(bytes: &[u8]) -> Text {
    Text::from_slice(bytes)
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Text,
    pub(crate) value: Text,
    /// Milliseconds since 1970, or [`NEVER`].
    expires: i64,
    /// The number of the last change.
    version: u64,
}

// One cache line, so that a look at an entry misses once.
const _: () = assert!(size_of::<Entry>() == 64);

impl Entry {
    /// Whether it is there at `now`.
    fn lives(&self, now: i64) -> bool {
        self.expires == NEVER || self.expires > now
    }

    pub(crate) fn expires(&self) -> i64 {
        self.expires
    }

    /// The memory that it takes: its line, and what is too long for that.
    pub(crate) fn bytes(&self) -> usize {
        let outside = |text: &Text| if text.spilled() { text.capacity() } else { 0 };
        size_of::<Self>() + outside(&self.key) + outside(&self.value)
    }
}

/// Keys, values, and when they expire.
#[derive(Clone, Debug, Default)]
pub(crate) struct Database {
    places: Places,
    entries: Vec<Entry>,
    /// When keys expire, with their hashes; times that no longer hold are among them.
    due: BinaryHeap<Reverse<(i64, u32)>>,
    /// Keys that expire.
    expiring: usize,
    /// Number of the last change.
    changes: u64,
    /// By a part of the hash, the last version of keys that were removed; empty while none was.
    removed: Vec<u64>,
    /// Keys that were removed because they had expired.
    expired: u64,
}

impl Database {
    /// Keys, with those that have expired and are not yet removed.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// All entries, those that have expired too, in the order of their places.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds an entry at the next place; `false` if its key is there.
    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8], expires: i64) -> bool {
        if self.place(hash(key), key).is_some() {
            return false;
        }
        let place = self.insert(key, text(value));
        if expires != NEVER {
            self.expire_at(place, expires);
        }
        true
    }

    /// Keys with a time at which they expire.
    pub(crate) fn expiring(&self) -> usize {
        self.expiring
    }

    /// Keys that were removed because they had expired.
    pub(crate) fn expired(&self) -> u64 {
        self.expired
    }

    /// Counts keys that expire from here on.
    pub(crate) fn forget_expired(&mut self) {
        self.expired = 0;
    }

    /// The entry at a place below [`Database::len`]; `None` if it has expired.
    pub(crate) fn at(&self, place: usize, now: i64) -> Option<&Entry> {
        Some(&self.entries[place]).filter(|entry| entry.lives(now))
    }

    fn place(&self, hash: u64, key: &[u8]) -> Option<usize> {
        let is_it = |place: usize| *self.entries[place].key == *key;
        self.places.find(low(hash), is_it)
    }

    pub(crate) fn get(&self, key: &[u8], now: i64) -> Option<&Entry> {
        let place = self.place(hash(key), key)?;
        self.at(place, now)
    }

    /// The place of a key. If it has expired, it is removed.
    pub(crate) fn find(&mut self, key: &[u8], now: i64) -> Option<usize> {
        let place = self.place(hash(key), key)?;
        if self.entries[place].lives(now) {
            return Some(place);
        }
        self.remove_at(place);
        self.expired += 1;
        None
    }

    pub(crate) fn value(&self, place: usize) -> &[u8] {
        &self.entries[place].value
    }

    pub(crate) fn expires_at(&self, place: usize) -> i64 {
        self.entries[place].expires
    }

    /// Changes the value at a place in its place.
    pub(crate) fn change(&mut self, place: usize, change: impl FnOnce(&mut Text)) {
        change(&mut self.entries[place].value);
        self.touch(place);
    }

    /// Sets a key, of which [`Database::find`] has just said where it is. A key that is there keeps its time, a new one never
    /// expires.
    pub(crate) fn set(&mut self, key: &[u8], found: Option<usize>, value: &[u8]) -> usize {
        if let Some(place) = found {
            self.change(place, |old| assign(old, value));
            return place;
        }
        self.insert(key, text(value))
    }

    /// Makes a key that is not there.
    fn insert(&mut self, key: &[u8], value: Text) -> usize {
        let hash = hash(key);
        let place = self.entries.len();
        self.places.insert(low(hash), place);
        self.changes += 1;
        self.entries.push(Entry {
            key: text(key),
            value,
            expires: NEVER,
            version: self.changes,
        });
        place
    }

    /// Sets when the key at a place expires.
    pub(crate) fn expire_at(&mut self, place: usize, expires: i64) {
        let entry = &mut self.entries[place];
        let before = std::mem::replace(&mut entry.expires, expires);
        self.expiring -= usize::from(before != NEVER);
        if expires != NEVER {
            self.expiring += 1;
            if before != expires {
                self.due.push(Reverse((expires, low(hash(&entry.key)))));
            }
        }
        self.touch(place);
        // What no longer holds must not pile up.
        if self.due.len() > 2 * self.expiring + 64 {
            self.tidy_due();
        }
    }

    /// Drops the times that no longer hold. It looks at the keys of these alone: there may be many more that never expire.
    fn tidy_due(&mut self) {
        let mut due = std::mem::take(&mut self.due).into_vec();
        due.sort_unstable();
        let mut held = Vec::with_capacity(self.expiring);
        for same in due.chunk_by(|a, b| a == b) {
            let Reverse((at, hash)) = same[0];
            let is_it = |place: usize| self.entries[place].expires == at;
            let keys = self.places.count(hash, is_it);
            held.extend(&same[..keys.min(same.len())]);
        }
        self.due = held.into();
    }

    fn touch(&mut self, place: usize) {
        self.changes += 1;
        self.entries[place].version = self.changes;
    }

    pub(crate) fn remove(&mut self, key: &[u8], now: i64) -> bool {
        let found = self.find(key, now);
        found.map(|place| self.remove_at(place)).is_some()
    }

    /// Removes what is at a place, which the last entry takes.
    pub(crate) fn remove_at(&mut self, place: usize) -> Entry {
        let hash_of = hash(&self.entries[place].key);
        self.places.remove(low(hash_of), place);
        let entry = self.entries.swap_remove(place);
        note_removed(&mut self.removed, hash_of, entry.version);
        self.expiring -= usize::from(entry.expires != NEVER);
        if let Some(moved) = self.entries.get(place) {
            let last = self.entries.len();
            self.places.moved(low(hash(&moved.key)), last, place);
        }
        // Memory follows what is held.
        if self.entries.len() < self.entries.capacity() / 8 && self.entries.capacity() > 1024 {
            self.entries.shrink_to(self.entries.len() * 2);
        }
        entry
    }

    /// Gives the value at a place, with its time, to another key.
    pub(crate) fn rename(&mut self, place: usize, to: &[u8], now: i64) {
        let entry = self.remove_at(place);
        let found = self.find(to, now);
        let place = match found {
            Some(place) => {
                self.change(place, |value| *value = entry.value);
                place
            }
            None => self.insert(to, entry.value),
        };
        if entry.expires != self.entries[place].expires {
            self.expire_at(place, entry.expires);
        }
    }

    /// Removes all keys.
    pub(crate) fn clear(&mut self) {
        let (changes, mut removed) = (self.changes, std::mem::take(&mut self.removed));
        for entry in &self.entries {
            note_removed(&mut removed, hash(&entry.key), entry.version);
        }
        *self = Self {
            changes,
            removed,
            expired: self.expired,
            ..Self::default()
        };
    }

    /// What a later look goes by to tell whether the key was set, made or removed meanwhile: [`Database::is_unchanged`].
    pub(crate) fn look(&self, key: &[u8], now: i64) -> u64 {
        let is_there = self.get(key, now);
        is_there.map_or(2 * self.changes, |entry| 2 * entry.version + 1)
    }

    /// Whether the key is as at the look that gave `look`. A key that had expired at that look may have been removed meanwhile. Of a
    /// key that is not there `false` may be wrong: if another one that was removed had been changed since.
    pub(crate) fn is_unchanged(&self, key: &[u8], now: i64, look: u64) -> bool {
        let (number, was_there) = (look / 2, look % 2 == 1);
        let hash = hash(key);
        match self.place(hash, key) {
            Some(place) => {
                let entry = &self.entries[place];
                match (was_there, entry.lives(now)) {
                    (true, true) => entry.version == number,
                    // It had expired at the look too, unless it was made since.
                    (false, false) => entry.version <= number,
                    _ => false,
                }
            }
            None => {
                !was_there
                    && self
                        .removed
                        .get(stripe(hash))
                        .is_none_or(|it| *it <= number)
            }
        }
    }

    /// Whether a key has expired and is still held. Now and then that is said of one that was removed otherwise.
    pub(crate) fn is_due(&self, now: i64) -> bool {
        self.due.peek().is_some_and(|Reverse((at, _))| *at <= now)
    }

    /// Removes a key, whether it has expired or not.
    pub(crate) fn forget(&mut self, key: &[u8]) {
        if let Some(place) = self.place(hash(key), key) {
            self.remove_at(place);
        }
    }

    /// Removes up to `keys_max` keys that have expired, tells each, and returns how many.
    pub(crate) fn remove_due(
        &mut self,
        now: i64,
        keys_max: usize,
        mut tell: impl FnMut(&Entry),
    ) -> usize {
        let mut removed = 0;
        while removed < keys_max
            && let Some(Reverse((at, hash))) = self.due.peek().copied()
            && at <= now
        {
            self.due.pop();
            let is_it = |place: usize| self.entries[place].expires == at;
            if let Some(place) = self.places.find(hash, is_it) {
                tell(&self.remove_at(place));
                removed += 1;
            }
        }
        self.expired += removed as u64;
        // Memory follows what is held.
        if self.due.len() < self.due.capacity() / 8 && self.due.capacity() > 1024 {
            self.due.shrink_to(self.due.len() * 2);
        }
        removed
    }
}

/// The half of a hash that the table goes by.
fn low(hash: u64) -> u32 {
    hash as u32
}

/// Notes that a key of this hash and version is removed.
fn note_removed(removed: &mut Vec<u64>, hash: u64, version: u64) {
    if removed.is_empty() {
        removed.resize(STRIPES, 0);
    }
    let last = &mut removed[stripe(hash)];
    *last = version.max(*last);
}

fn stripe(hash: u64) -> usize {
    // The table goes by the other half.
    (hash >> 32) as usize % STRIPES
}

/// Sets a value in its place, unless that would keep much more memory than it needs.
fn assign(old: &mut Text, value: &[u8]) {
    let room = old.capacity();
    if (value.len()..=2 * value.len() + 64).contains(&room) {
        old.clear();
        old.extend_from_slice(value);
    } else {
        *old = text(value);
    }
}

#[cfg(test)]
mod tests;
