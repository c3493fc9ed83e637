//! From the number of a pair to its place.

use rustc_hash::FxHashMap;

/// A table where most numbers are in use, otherwise a hash map, which is never walked through, so
/// that its order does not matter.
pub(super) enum Places {
    Dense(Vec<u32>),
    Sparse(FxHashMap<u64, u32>),
}

const NONE: u32 = u32::MAX;
/// Largest table.
const DENSE_MAX: u64 = 1 << 25;
/// A table may have this many times the numbers that are expected.
const ROOM: u64 = 16;

impl Places {
    /// For numbers below `span`, of which `expected` are used.
    pub(super) fn new(span: u64, expected: u64) -> Self {
        if span <= DENSE_MAX.min(expected.saturating_mul(ROOM)) {
            Self::Dense(vec![NONE; span as usize])
        } else {
            Self::Sparse(FxHashMap::default())
        }
    }

    #[inline]
    pub(super) fn get(&self, number: u64) -> Option<usize> {
        let place = match self {
            Self::Dense(table) => table[number as usize],
            Self::Sparse(map) => *map.get(&number)?,
        };
        (place != NONE).then_some(place as usize)
    }

    pub(super) fn insert(&mut self, number: u64, place: u32) {
        match self {
            Self::Dense(table) => table[number as usize] = place,
            Self::Sparse(map) => drop(map.insert(number, place)),
        }
    }
}
