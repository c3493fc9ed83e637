//! Building a table by length from ranges, and joining two tables.

use super::{ByLength, RANGES_MAX};

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
