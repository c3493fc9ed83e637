//! The hash table that says where the entry of a key is.
//!
//! Slots of 8 bytes are looked at one after another from the one that a key's hash names (linear probing), so nearly every look
//! ends in the first cache line. At most five eighths of the slots are taken. What follows a removed slot moves up, so there are
//! no marks of what was removed.

use crate::bytes::{ByteReader, ByteWriter};

/// No entry has this number.
const NONE: u32 = u32::MAX;
/// The fewest slots.
const SLOTS_MIN: usize = 16;

/// The low half of a key's hash, and the place of its entry.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    entry: u32,
}

const FREE: Slot = Slot {
    hash: 0,
    entry: NONE,
};

/// Where the entries of keys are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// A power of two of them, or none.
    slots: Vec<Slot>,
    taken: usize,
}

impl Places {
    /// The place of an entry whose key has this hash, and of which `is_it` says that it is the right one.
    #[inline]
    pub(crate) fn find(&self, hash: u32, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let slot = self.slot(hash, is_it)?;
        Some(self.slots[slot].entry as usize)
    }

    #[inline]
    fn slot(&self, hash: u32, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & last;
        loop {
            let slot = self.slots[at];
            if slot.entry == NONE {
                return None;
            }
            if slot.hash == hash && is_it(slot.entry as usize) {
                return Some(at);
            }
            at = (at + 1) & last;
        }
    }

    /// How many entries there are whose keys have this hash and of which `is_it` holds.
    pub(crate) fn count(&self, hash: u32, is_it: impl Fn(usize) -> bool) -> usize {
        let Some(last) = self.slots.len().checked_sub(1) else {
            return 0;
        };
        let places = (hash as usize..).map(|at| self.slots[at & last]);
        let run = places.take_while(|it| it.entry != NONE);
        run.filter(|it| it.hash == hash && is_it(it.entry as usize))
            .count()
    }

    /// Adds an entry that is not there.
    ///
    /// # Panics
    ///
    /// If its place is 2^32 - 1 or more.
    pub(crate) fn insert(&mut self, hash: u32, entry: usize) {
        let short = u32::try_from(entry).ok().filter(|it| *it != NONE);
        let entry = short.expect("a database has less than 2^32 - 1 keys");
        if (self.taken + 1) * 8 > self.slots.len() * 5 {
            self.resize((self.slots.len() * 2).max(SLOTS_MIN));
        }
        self.put(Slot { hash, entry });
        self.taken += 1;
    }

    fn put(&mut self, slot: Slot) {
        let last = self.slots.len() - 1;
        let mut at = slot.hash as usize & last;
        while self.slots[at].entry != NONE {
            at = (at + 1) & last;
        }
        self.slots[at] = slot;
    }

    /// Appends the table, for another process.
    pub(crate) fn encode(&self, to: &mut ByteWriter) {
        to.word(self.slots.len() as u64);
        for slot in &self.slots {
            to.word(u64::from(slot.hash) << 32 | u64::from(slot.entry));
        }
    }

    /// Reads what was appended: a table of `entries` entries.
    pub(crate) fn decode(from: &mut ByteReader<'_>, entries: usize) -> Option<Self> {
        let slots = from.list(|from| {
            let word = from.word()?;
            let (hash, entry) = ((word >> 32) as u32, word as u32);
            (entry == NONE || (entry as usize) < entries).then_some(Slot { hash, entry })
        })?;
        let taken = slots.iter().filter(|it| it.entry != NONE).count();
        let sized = slots.is_empty() || slots.len().is_power_of_two() && taken < slots.len();
        (sized && taken == entries).then_some(Self { slots, taken })
    }

    fn resize(&mut self, slots: usize) {
        let before = std::mem::replace(&mut self.slots, vec![FREE; slots]);
        for slot in before.into_iter().filter(|it| it.entry != NONE) {
            self.put(slot);
        }
    }

    /// Removes the entry at this place.
    ///
    /// # Panics
    ///
    /// If it is not there.
    pub(crate) fn remove(&mut self, hash: u32, entry: usize) {
        let found = self.slot(hash, |it| it == entry);
        let mut gap = found.expect("every entry has its place in the table");
        let last = self.slots.len() - 1;
        let mut at = gap;
        loop {
            at = (at + 1) & last;
            let slot = self.slots[at];
            if slot.entry == NONE {
                break;
            }
            // It may move up to the gap unless its own first slot lies behind that.
            let own = slot.hash as usize & last;
            if (at.wrapping_sub(own) & last) >= (at.wrapping_sub(gap) & last) {
                self.slots[gap] = slot;
                gap = at;
            }
        }
        self.slots[gap] = FREE;
        self.taken -= 1;
        // Memory follows what is held.
        if self.slots.len() > SLOTS_MIN && self.taken * 16 < self.slots.len() {
            self.resize(self.slots.len() / 4);
        }
    }

    /// Says that an entry has moved.
    ///
    /// # Panics
    ///
    /// If it is not there.
    pub(crate) fn moved(&mut self, hash: u32, from: usize, to: usize) {
        let found = self.slot(hash, |it| it == from);
        let slot = found.expect("every entry has its place in the table");
        // It is before another one, so it is small enough.
        self.slots[slot].entry = to as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Hashes that are near each other, so that long runs of slots form, wrap around and are cut.
    #[test]
    fn it_is_a_map() {
        let mut random = fastrand::Rng::with_seed(5);
        for spread in [1, 4, 30, 1000] {
            let (mut places, mut model) = (Places::default(), HashMap::new());
            let mut fresh = 0;
            for _ in 0..5000 {
                let hash = (u32::MAX - 3).wrapping_add(random.u32(..spread));
                match model.keys().next().copied() {
                    Some((hash, entry)) if random.u8(..5) < 2 => {
                        places.remove(hash, entry);
                        model.remove(&(hash, entry));
                    }
                    Some((hash, entry)) if random.u8(..5) == 0 => {
                        places.moved(hash, entry, fresh);
                        model.remove(&(hash, entry));
                        model.insert((hash, fresh), ());
                        fresh += 1;
                    }
                    _ => {
                        places.insert(hash, fresh);
                        model.insert((hash, fresh), ());
                        fresh += 1;
                    }
                }
                assert_eq!(places.taken, model.len());
            }
            for (hash, entry) in model.keys() {
                assert_eq!(places.find(*hash, |it| it == *entry), Some(*entry));
                let alike = model.keys().filter(|it| it.0 == *hash);
                assert_eq!(places.count(*hash, |_| true), alike.count());
            }
            let taken = places.slots.iter().filter(|it| it.entry != NONE);
            assert_eq!(taken.count(), model.len());
        }
    }
}
