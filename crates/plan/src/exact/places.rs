//! A map from a state and a holder's group to a place in a table.

use rustc_hash::FxHashMap;

/// The places of the times of each pair of a state and a holder's group.
pub(super) struct TimePlaces {
    groups: u64,
    table: PlaceTable,
}

/// A table where most numbers are in use, otherwise a hash map, which is never walked through, so
/// that its order does not matter.
enum PlaceTable {
    Dense(Vec<u32>),
    Sparse(FxHashMap<u64, u32>),
}

const NONE: u32 = u32::MAX;
/// Largest table.
const DENSE_MAX: u64 = 1 << 25;
/// A table may have this many times the pairs that are expected.
const ROOM: u64 = 16;

impl TimePlaces {
    /// For states below `states` and so many groups; `expected` pairs are used.
    pub(super) fn new(states: u64, groups: usize, expected: usize) -> Self {
        let groups = groups as u64;
        let span = states * groups;
        let table = if span <= DENSE_MAX.min((expected as u64).saturating_mul(ROOM)) {
            PlaceTable::Dense(vec![NONE; span as usize])
        } else {
            PlaceTable::Sparse(FxHashMap::default())
        };
        Self { groups, table }
    }

    #[inline]
    pub(super) fn get(&self, state: u64, group: usize) -> Option<usize> {
        let pair = state * self.groups + group as u64;
        let place = match &self.table {
            PlaceTable::Dense(table) => table[pair as usize],
            PlaceTable::Sparse(map) => *map.get(&pair)?,
        };
        (place != NONE).then_some(place as usize)
    }

    pub(super) fn insert(&mut self, state: u64, group: usize, place: u32) {
        let pair = state * self.groups + group as u64;
        match &mut self.table {
            PlaceTable::Dense(table) => table[pair as usize] = place,
            PlaceTable::Sparse(map) => drop(map.insert(pair, place)),
        }
    }
}
