//! Random numbers of a simulation: a small generator, as one is drawn at every scheduling point.

use std::cell::Cell;

/// SplitMix64.
#[derive(Debug)]
pub(crate) struct Random(Cell<u64>);

impl Random {
    pub(crate) fn new(words: &[u64]) -> Self {
        Self(Cell::new(mixed(words)))
    }

    pub(crate) fn reseed(&self, words: &[u64]) {
        self.0.set(mixed(words));
    }

    pub(crate) fn next(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.0.set(state);
        scrambled(state)
    }

    /// A number below `end`.
    pub(crate) fn below(&self, end: u64) -> u64 {
        assert!(end > 0, "nothing is below 0");
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    pub(crate) fn index(&self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    pub(crate) fn between(&self, range: std::ops::Range<u64>) -> u64 {
        range.start + self.below(range.end - range.start)
    }

    /// True once in `times`.
    pub(crate) fn once_in(&self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<T: Copy>(&self, of: &[T]) -> T {
        of[self.index(of.len())]
    }

    /// About as often short as long: `bits` random bits at most.
    pub(crate) fn spread(&self, bits: u64) -> u64 {
        let bits = self.below(bits + 1);
        self.below(1 << bits)
    }
}

fn scrambled(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// A number that depends on all words and their order.
pub(crate) fn mixed(words: &[u64]) -> u64 {
    words.iter().fold(0x1234_5678, |sum, &word| {
        scrambled(sum ^ word.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    })
}
