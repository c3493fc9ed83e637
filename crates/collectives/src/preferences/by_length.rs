//! An algorithm for each range of lengths.

/// Most ranges of lengths that one operation can have.
pub const RANGES_MAX: usize = 8;

/// The algorithm that is asked for at each length; `None` leaves the choice to Corecast.
///
/// The length is that of a block, which all ranks know; [`Algorithms`](crate::Algorithms) says what a block is in
/// each operation.
///
/// # Examples
///
/// ```
/// use corecast_collectives::{ByLength, allreduce::Algorithm};
///
/// // Doubling up to and including 4 KiB, the ring up to 1 MiB, beyond what Corecast chooses.
/// let asked = ByLength::new(
///     &[(4 << 10, Some(Algorithm::Doubling)), (1 << 20, Some(Algorithm::Ring))],
///     None,
/// )?;
/// assert_eq!(asked.at(4096), Some(Algorithm::Doubling));
/// assert_eq!(asked.at(4097), Some(Algorithm::Ring));
/// assert_eq!(asked.at(2 << 20), None);
/// assert_eq!(ByLength::from(Algorithm::Ring).at(8), Some(Algorithm::Ring));
/// # Ok::<(), corecast_collectives::ByLengthError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByLength<A> {
    /// The longest length of each range but the last, increasing; `usize::MAX` for ranges that are not used.
    limits: [usize; RANGES_MAX - 1],
    /// The algorithm of each range; neighbours differ.
    choices: [Option<A>; RANGES_MAX],
}

/// Why ranges of lengths are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ByLengthError {
    /// A range that ends before, or where, the one before it ends.
    #[error("a range up to {limit} bytes follows one up to {before}: give increasing limits")]
    Order {
        /// The range's limit in bytes.
        limit: usize,
        /// The limit of the range before it.
        before: usize,
    },
    /// More ranges than a table holds.
    #[error("{count} ranges of lengths are more than the {RANGES_MAX} of an operation: join some")]
    TooMany {
        /// Number of ranges.
        count: usize,
    },
}

impl<A: Copy + PartialEq> ByLength<A> {
    /// Makes a table from ranges in increasing order: the longest length of each in bytes, and its algorithm.
    /// `rest` is for lengths above all of them. Neighbours with the same algorithm become one range.
    ///
    /// # Errors
    ///
    /// [`ByLengthError`].
    pub fn new(ranges: &[(usize, Option<A>)], rest: Option<A>) -> Result<Self, ByLengthError> {
        for pair in ranges.windows(2) {
            let (before, limit) = (pair[0].0, pair[1].0);
            if limit <= before {
                return Err(ByLengthError::Order { limit, before });
            }
        }
        // No length is above `usize::MAX`: a range up to it takes the place of `rest`.
        let (ranges, rest) = match ranges.split_last() {
            Some((&(usize::MAX, last), others)) => (others, last),
            _ => (ranges, rest),
        };
        let mut table = Self::from(None);
        let mut count = 0;
        let choices = ranges.iter().map(|&(_, choice)| choice);
        let next = choices.skip(1).chain([rest]);
        for (&(limit, choice), next) in ranges.iter().zip(next) {
            if choice == next {
                continue;
            }
            if count < RANGES_MAX - 1 {
                (table.limits[count], table.choices[count]) = (limit, choice);
            }
            count += 1;
        }
        if count >= RANGES_MAX {
            return Err(ByLengthError::TooMany { count: count + 1 });
        }
        table.choices[count] = rest;
        Ok(table)
    }

    /// The algorithm that is asked for at a length of `bytes`.
    ///
    /// # Cost
    ///
    /// One comparison in the first range, else one for each of [`RANGES_MAX`], and no further branch.
    #[inline(always)]
    pub fn at(&self, bytes: usize) -> Option<A> {
        if bytes <= self.limits[0] {
            return self.choices[0];
        }
        let passed = self.limits.iter().map(|&limit| usize::from(bytes > limit));
        // The mask tells the compiler that the index is in bounds.
        self.choices[passed.sum::<usize>() & (RANGES_MAX - 1)]
    }

    /// Whether all lengths have the same algorithm, or none.
    #[inline(always)]
    pub fn is_uniform(&self) -> bool {
        self.limits[0] == usize::MAX
    }

    /// The algorithm that is asked for at every length; `None` if lengths differ or none is asked for.
    #[inline(always)]
    pub fn everywhere(&self) -> Option<A> {
        self.is_uniform().then_some(self.choices[0]).flatten()
    }

    /// Whether nothing is asked for at any length.
    pub fn is_empty(&self) -> bool {
        *self == Self::from(None)
    }

    /// The shortest length for which an algorithm is asked; `usize::MAX` if none is asked for.
    pub fn free(&self) -> usize {
        match self.choices[0] {
            Some(_) => 0,
            None => self.limits[0].saturating_add(1),
        }
    }

    /// The ranges in increasing order: the longest length of each, which is `usize::MAX` for the last one, and its
    /// algorithm.
    pub fn ranges(&self) -> impl Iterator<Item = (usize, Option<A>)> + '_ {
        let limits = self.limits.iter().copied().take_while(|&l| l < usize::MAX);
        limits.chain([usize::MAX]).zip(self.choices)
    }

    /// Returns this table, with the algorithms of `other` where this one leaves the choice to Corecast.
    ///
    /// # Errors
    ///
    /// [`ByLengthError::TooMany`].
    pub fn or(&self, other: &Self) -> Result<Self, ByLengthError> {
        let mut limits: Vec<usize> = self.ranges().chain(other.ranges()).map(|r| r.0).collect();
        limits.sort_unstable();
        limits.dedup();
        let choice = |limit| (limit, self.at(limit).or(other.at(limit)));
        Self::new(&limits.into_iter().map(choice).collect::<Vec<_>>(), None)
    }
}

impl<A> Default for ByLength<A> {
    fn default() -> Self {
        Self::from(None)
    }
}

impl<A> From<Option<A>> for ByLength<A> {
    /// One algorithm for every length.
    fn from(choice: Option<A>) -> Self {
        let mut choices = [const { None }; RANGES_MAX];
        choices[0] = choice;
        Self {
            limits: [usize::MAX; RANGES_MAX - 1],
            choices,
        }
    }
}

impl<A> From<A> for ByLength<A> {
    /// One algorithm for every length.
    fn from(choice: A) -> Self {
        Self::from(Some(choice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reference that looks through the ranges in order.
    fn naive(ranges: &[(usize, Option<u8>)], rest: Option<u8>, bytes: usize) -> Option<u8> {
        let found = ranges.iter().find(|(limit, _)| bytes <= *limit);
        found.map_or(rest, |range| range.1)
    }

    fn random(rng: &mut fastrand::Rng) -> (Vec<(usize, Option<u8>)>, Option<u8>) {
        let mut limits: Vec<usize> = (0..rng.usize(..14)).map(|_| rng.usize(..40)).collect();
        limits.sort_unstable();
        limits.dedup();
        let mut choice = || rng.bool().then(|| rng.u8(..3));
        let ranges = limits.into_iter().map(|limit| (limit, choice())).collect();
        (ranges, choice())
    }

    #[test]
    fn tables_say_what_lists_say() {
        let mut rng = fastrand::Rng::with_seed(8);
        let (mut made, mut refused) = (0, 0);
        for _ in 0..4000 {
            let (ranges, rest) = random(&mut rng);
            let Ok(table) = ByLength::new(&ranges, rest) else {
                let changes = ranges.iter().map(|r| r.1).chain([rest]).collect::<Vec<_>>();
                assert!(changes.windows(2).filter(|two| two[0] != two[1]).count() >= RANGES_MAX);
                refused += 1;
                continue;
            };
            made += 1;
            for bytes in (0..45).chain([usize::MAX]) {
                assert_eq!(table.at(bytes), naive(&ranges, rest, bytes), "{ranges:?}");
            }
            let first = (0..45).find(|&bytes| table.at(bytes).is_some());
            assert_eq!(table.free(), first.unwrap_or(usize::MAX));
            let listed: Vec<_> = table.ranges().collect();
            assert_eq!(ByLength::new(&listed, None), Ok(table));
            assert_eq!(table.is_empty(), (0..45).all(|b| table.at(b).is_none()));
            let (ranges, rest) = random(&mut rng);
            if let Ok(other) = ByLength::new(&ranges, rest)
                && let Ok(both) = table.or(&other)
            {
                for bytes in 0..45 {
                    assert_eq!(both.at(bytes), table.at(bytes).or(other.at(bytes)));
                }
            }
        }
        assert!(made > 2000 && refused > 100, "{made} {refused}");
    }

    #[test]
    fn limits_increase() {
        for (limits, error) in [
            ([5, 5], "up to 5 bytes follows one up to 5"),
            ([5, 4], "up to 4 bytes follows one up to 5"),
        ] {
            let found = ByLength::new(&limits.map(|limit| (limit, Some(1))), None).unwrap_err();
            assert!(found.to_string().contains(error), "{found}");
        }
        let many: Vec<_> = (0..8).map(|limit| (limit, Some(limit))).collect();
        let error = ByLength::new(&many, None).unwrap_err().to_string();
        assert!(error.starts_with("9 ranges"), "{error}");
        assert_eq!(ByLength::<u8>::default().everywhere(), None);
        assert_eq!(ByLength::from(3).everywhere(), Some(3));
    }
}
