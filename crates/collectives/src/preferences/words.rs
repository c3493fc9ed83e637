//! Algorithms as words of a team's segment header, which other processes read.

use super::algorithms::{Algorithms, each_by_length};
use super::by_length::{ByLength, RANGES_MAX};
use crate::registry::{Registered, Selection};

/// The first bit of a size in a word.
const SIZE_BIT: u32 = 8;

impl Algorithms {
    /// Encodes the algorithms as words that [`from_words`](Self::from_words) reads. An algorithm is 1 plus its
    /// index in its type's `ALL`, or 0 for none, and from bit 8 on the place of its size. The barrier's comes first. Each other operation has the number of its
    /// ranges, and for each range its limit and its algorithm. The last word is n½ plus 1, or 0 where it is unknown.
    pub fn to_words(self) -> Vec<u64> {
        fn word<A: Registered>(choice: Option<Selection<A>>) -> u64 {
            let place =
                |choice: &Selection<A>| A::ALL.iter().position(|&one| one == choice.algorithm);
            let sized = choice.and_then(|choice| Some((place(&choice)?, choice.place())));
            sized.map_or(0, |(algorithm, size)| {
                ((algorithm + 1) | (size << SIZE_BIT)) as u64
            })
        }
        let mut words = vec![word(self.barrier)];
        macro_rules! each {
            ($($operation:ident),*) => {$(
                words.push(self.$operation.ranges().count() as u64);
                for (limit, choice) in self.$operation.ranges() {
                    words.extend([limit as u64, word(choice)]);
                }
            )*};
        }
        each_by_length!(each);
        words.push(
            self.half_bytes
                .map_or(0, |bytes| (bytes as u64).saturating_add(1)),
        );
        words
    }

    /// Decodes the words that another process wrote; `None` if they are invalid.
    pub fn from_words(next: &mut impl FnMut() -> Option<usize>) -> Option<Self> {
        fn choice<A: Registered>(word: usize) -> Option<Option<Selection<A>>> {
            if word == 0 {
                return Some(None);
            }
            let (algorithm, size) = (word & ((1 << SIZE_BIT) - 1), word >> SIZE_BIT);
            let algorithm = *A::ALL.get(algorithm.checked_sub(1)?)?;
            Selection::at(algorithm, size).map(Some)
        }
        let mut asked = Self {
            barrier: choice(next()?)?,
            ..Self::default()
        };
        macro_rules! each {
            ($($operation:ident),*) => {$(
                let count = next().filter(|count| (1..=RANGES_MAX).contains(count))?;
                let ranges: Option<Vec<_>> = (0..count)
                    .map(|_| Some((next()?, choice(next()?)?)))
                    .collect();
                let ranges = ranges.filter(|ranges| ranges[count - 1].0 == usize::MAX)?;
                asked.$operation = ByLength::new(&ranges, None).ok()?;
            )*};
        }
        each_by_length!(each);
        asked.half_bytes = next()?.checked_sub(1);
        Some(asked)
    }
}
