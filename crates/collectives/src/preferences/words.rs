//! Algorithms as words of a team's segment header, which other processes read.

use super::algorithms::{Algorithms, each_by_length};
use super::by_length::{ByLength, RANGES_MAX};
use crate::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan,
    scatter,
};

impl Algorithms {
    /// Encodes the algorithms as words that [`from_words`](Self::from_words) reads. An algorithm is 1 plus its
    /// index in its type's `ALL`, or 0 for none. The barrier's comes first. Each other operation has the number of
    /// its ranges, and for each range its limit and its algorithm.
    pub fn to_words(self) -> Vec<u64> {
        fn place<A: PartialEq>(all: &[A], choice: Option<A>) -> u64 {
            let place = choice.and_then(|choice| all.iter().position(|one| *one == choice));
            place.map_or(0, |place| place as u64 + 1)
        }
        let mut words = vec![place(barrier::Algorithm::ALL, self.barrier)];
        macro_rules! each {
            ($($operation:ident),*) => {$(
                words.push(self.$operation.ranges().count() as u64);
                for (limit, choice) in self.$operation.ranges() {
                    let choice = place($operation::Algorithm::ALL, choice);
                    words.extend([limit as u64, choice]);
                }
            )*};
        }
        each_by_length!(each);
        words
    }

    /// Decodes the words that another process wrote; `None` if they are invalid.
    pub fn from_words(next: &mut impl FnMut() -> Option<usize>) -> Option<Self> {
        fn choice<A: Copy>(all: &[A], word: usize) -> Option<Option<A>> {
            match word {
                0 => Some(None),
                place => all.get(place - 1).map(|&one| Some(one)),
            }
        }
        let mut asked = Self {
            barrier: choice(barrier::Algorithm::ALL, next()?)?,
            ..Self::default()
        };
        macro_rules! each {
            ($($operation:ident),*) => {$(
                let count = next().filter(|count| (1..=RANGES_MAX).contains(count))?;
                let ranges: Option<Vec<_>> = (0..count)
                    .map(|_| Some((next()?, choice($operation::Algorithm::ALL, next()?)?)))
                    .collect();
                let ranges = ranges.filter(|ranges| ranges[count - 1].0 == usize::MAX)?;
                asked.$operation = ByLength::new(&ranges, None).ok()?;
            )*};
        }
        each_by_length!(each);
        Some(asked)
    }
}
