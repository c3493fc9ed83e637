//! A set of ranks, as bits.

#[derive(Clone, Debug)]
pub(super) struct Ranks {
    words: Vec<u64>,
}

impl Ranks {
    /// Returns the set that holds one rank of a team of n.
    pub(super) fn only(n: usize, rank: usize) -> Self {
        let mut words = vec![0; n.div_ceil(64)];
        words[rank / 64] = 1 << (rank % 64);
        Self { words }
    }

    pub(super) fn contains(&self, rank: usize) -> bool {
        self.words[rank / 64] >> (rank % 64) & 1 == 1
    }

    /// Adds the other set. Returns the lowest rank that was in both.
    pub(super) fn join(&mut self, other: &Self) -> Option<usize> {
        let mut both = None;
        for (at, (word, &more)) in self.words.iter_mut().zip(&other.words).enumerate() {
            let common = *word & more;
            if common != 0 && both.is_none() {
                both = Some(64 * at + common.trailing_zeros() as usize);
            }
            *word |= more;
        }
        both
    }
}
