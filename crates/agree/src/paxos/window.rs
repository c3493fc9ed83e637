//! The part of the log that is kept.

use std::collections::VecDeque;

/// Entries of the log from an index on, which is its *floor*; what is below has been dropped. There may be gaps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window<T> {
    floor: u64,
    entries: VecDeque<Option<T>>,
}

impl<T> Window<T> {
    /// An empty window at `floor`.
    pub fn new(floor: u64) -> Self {
        Self {
            floor,
            entries: VecDeque::new(),
        }
    }

    /// The first index that is kept, whether it has an entry or not.
    pub fn floor(&self) -> u64 {
        self.floor
    }

    /// The index after the last entry, and at least the floor.
    pub fn end(&self) -> u64 {
        self.floor + self.entries.len() as u64
    }

    /// The entry of an index.
    pub fn get(&self, index: u64) -> Option<&T> {
        let place = index.checked_sub(self.floor)?;
        self.entries.get(usize::try_from(place).ok()?)?.as_ref()
    }

    /// Puts an entry in place of the one that is there; below the floor it is dropped.
    pub fn insert(&mut self, index: u64, entry: T) {
        let Some(place) = index.checked_sub(self.floor) else {
            return;
        };
        let place = usize::try_from(place).expect("a window fits into memory");
        if place >= self.entries.len() {
            self.entries.resize_with(place + 1, || None);
        }
        self.entries[place] = Some(entry);
    }

    /// Drops the entries below `floor`. A floor that is below its own changes nothing.
    pub fn raise(&mut self, floor: u64) {
        while self.floor < floor && self.entries.pop_front().is_some() {
            self.floor += 1;
        }
        self.floor = self.floor.max(floor);
    }

    /// All entries with their indices, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        let indexed = (self.floor..).zip(&self.entries);
        indexed.filter_map(|(index, entry)| Some((index, entry.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_window_is_a_map_without_what_is_below_its_floor() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..200 {
            let mut window = Window::new(random.u64(..4));
            let mut floor = window.floor();
            let mut map = BTreeMap::new();
            for step in 0..40 {
                let index = random.u64(..20);
                if random.u8(..4) == 0 {
                    window.raise(index);
                    floor = floor.max(index);
                } else {
                    window.insert(index, step);
                    map.insert(index, step);
                }
                map.retain(|index, _| *index >= floor);
                let found: Vec<_> = window
                    .iter()
                    .map(|(index, entry)| (index, *entry))
                    .collect();
                assert_eq!(found, map.clone().into_iter().collect::<Vec<_>>());
                assert_eq!(window.floor(), floor);
                let end = map.last_key_value().map_or(floor, |(index, _)| index + 1);
                assert!(window.end() >= end);
                for index in 0..22 {
                    assert_eq!(window.get(index), map.get(&index));
                }
            }
        }
    }
}
