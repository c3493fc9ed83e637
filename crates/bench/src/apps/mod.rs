//! Applications that synchronise often. The same code runs over the barriers of all libraries.
//!
//! ```text
//! application ──► SyncBackend ──┬── table + barrier of any Engine          std, pthread, MCS, …
//!  (one rank)               ├── table + Corecast's barrier
//!                           └── Corecast's reductions
//! ```
//!
//! A [`Provider`] gives each rank a [`SyncBackend`]. Providers that have nothing but a barrier
//! combine values in a [table](Table) that all ranks see. The values are whole numbers, so neither
//! the provider nor the number of ranks changes a result.
//!
//! | application | source |
//! | --- | --- |
//! | [`streamcluster`] | Smelt §5.5, Table 4 |

mod barrier;
mod entrant;
mod over;
mod report;
pub mod streamcluster;
mod table;
mod teams;

pub use barrier::OverBarrier;
pub(crate) use over::{Over, RankPosition, RankProgram};
pub use report::{Outcome, Report, Run, SCHEMA, settings};
pub use table::Table;
pub use teams::{Means, Teams};

use crate::engine::Role;

/// Why ranks cannot synchronise any more, in a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Lost(pub String);

/// Creates each rank's backend for the barriers and reductions of an application.
pub trait Provider: Sync {
    /// Short name, unique within a race together with the setting.
    fn name(&self) -> &str;

    /// How it was set up, as a line that lets others repeat it.
    fn setting(&self) -> String;

    /// Its role in a comparison.
    fn role(&self) -> Role {
        Role::Peer
    }

    /// Number of ranks.
    fn ranks(&self) -> usize;

    /// Why it has stopped working, if it has.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Returns the backend of `rank`. Called once per rank, on the thread that will use it.
    fn backend<'a>(&'a self, rank: usize) -> Box<dyn SyncBackend + 'a>;
}

/// The barriers and reductions of one rank. All ranks make the same calls in the same order.
pub trait SyncBackend {
    /// Returns after all ranks have entered.
    ///
    /// # Errors
    ///
    /// [`Lost`] if ranks cannot synchronise any more, for this and all other calls: the application
    /// ends.
    fn barrier(&mut self) -> Result<(), Lost>;

    /// Replaces each element by its sum over all ranks. All ranks bring the same number of
    /// elements.
    ///
    /// # Errors
    ///
    /// [`Lost`].
    fn sum(&mut self, data: &mut [i64]) -> Result<(), Lost>;

    /// Returns the least value of any rank.
    ///
    /// # Errors
    ///
    /// [`Lost`].
    fn min(&mut self, value: i64) -> Result<i64, Lost>;

    /// Returns after rank 0 has entered.
    ///
    /// # Errors
    ///
    /// [`Lost`].
    fn fork(&mut self) -> Result<(), Lost> {
        self.barrier()
    }

    /// Returns at rank 0 after all ranks have entered; other ranks may leave earlier.
    ///
    /// # Errors
    ///
    /// [`Lost`].
    fn join(&mut self) -> Result<(), Lost> {
        self.barrier()
    }

    /// Like [`join`](Self::join), and returns the sum of all values at rank 0. At other ranks the
    /// number returned has no meaning.
    ///
    /// # Errors
    ///
    /// [`Lost`].
    fn join_sum(&mut self, value: i64) -> Result<i64, Lost>;

    /// How many barriers or reductions this rank has gone through.
    fn synchronisations(&self) -> u64;

    /// Moves to another place in memory, for providers that have several.
    fn turn(&mut self) {}
}

/// The range of `n` items that belongs to `rank` of `ranks`. Lengths differ by one at most.
pub fn share(n: usize, rank: usize, ranks: usize) -> std::ops::Range<usize> {
    n * rank / ranks..n * (rank + 1) / ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_everything_once() {
        for ranks in 1..9 {
            for n in 0..30 {
                let all: Vec<usize> = (0..ranks).flat_map(|rank| share(n, rank, ranks)).collect();
                assert_eq!(all, (0..n).collect::<Vec<_>>());
                let sizes = (0..ranks).map(|rank| share(n, rank, ranks).len());
                assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
            }
        }
    }
}
