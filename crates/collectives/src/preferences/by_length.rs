//! An algorithm for each range of lengths.

mod build;

use crate::registry::Selection;

pub use build::ByLengthError;

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

impl<A: Copy + PartialEq> ByLength<A> {
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

impl<A> From<A> for ByLength<Selection<A>> {
    /// One algorithm for every length, without a size.
    fn from(algorithm: A) -> Self {
        Self::from(Some(Selection::from(algorithm)))
    }
}

impl<A> From<Option<A>> for ByLength<Selection<A>> {
    /// One algorithm for every length, without a size.
    fn from(algorithm: Option<A>) -> Self {
        Self::from(algorithm.map(Selection::from))
    }
}

impl<A> From<A> for ByLength<A> {
    /// One algorithm for every length.
    fn from(choice: A) -> Self {
        Self::from(Some(choice))
    }
}

#[cfg(test)]
mod tests;
