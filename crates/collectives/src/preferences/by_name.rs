//! Algorithms that are asked for by the names of operations and algorithms.

use super::algorithms::{Algorithms, each_by_length};
use super::by_length::{ByLength, ByLengthError};
use crate::registry::{Entry, Registered, Selection, UnknownAlgorithm};
use crate::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan,
    scatter,
};
use corecast_model::Collective;
use fnv::FnvHasher;
use std::hash::Hasher;

/// A range of lengths: the longest of them in bytes, and the name of an algorithm; `None` leaves the choice to
/// Corecast.
pub type NamedRange<'a> = (usize, Option<&'a str>);

/// The error for a name that no operation has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {0:?} is unknown: use one of {names}", names = Algorithms::OPERATIONS.join(", "))]
pub struct UnknownOperation(pub String);

/// Why algorithms cannot be asked for by these names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// The operation is unknown.
    #[error(transparent)]
    Operation(#[from] UnknownOperation),
    /// The algorithm is unknown.
    #[error(transparent)]
    Algorithm(#[from] UnknownAlgorithm),
    /// The ranges of lengths are invalid.
    #[error("{operation}: {error}")]
    Ranges {
        /// The operation.
        operation: String,
        /// What is wrong with the ranges.
        error: ByLengthError,
    },
    /// Lengths were given for a barrier, which has none.
    #[error("a barrier has no length: ask for one algorithm")]
    Barrier,
}

/// Counts the changes of what runs where nothing is asked for, which a tuning may have found to be the fastest.
const CHOICES: &str = "2";

/// Returns a text that identifies the version, the protocol, the names and sizes of all algorithms, and the choices between
/// them. A tuning of another edition may ask for algorithms that no longer exist, or miss faster ones that are new.
///
/// # Cost
///
/// One pass over all names.
pub fn edition() -> String {
    // The standard library's hasher promises no stable value.
    let mut digest = FnvHasher::default();
    digest.write(CHOICES.as_bytes());
    for operation in Algorithms::OPERATIONS {
        let names = Algorithms::sized_names(operation).unwrap_or_default();
        digest.write([&[operation], &names[..]].concat().join(" ").as_bytes());
    }
    let (version, protocol) = (env!("CARGO_PKG_VERSION"), corecast_wire::PROTOCOL_VERSION);
    format!("{version}-{protocol}-{:016x}", digest.finish())
}

/// Parses the ranges of [`Algorithms::ask`], for operations with lengths.
fn table<A: Registered>(
    operation: &str,
    ranges: &[NamedRange<'_>],
) -> Result<ByLength<Selection<A>>, SelectionError> {
    let named = |&(limit, name): &NamedRange<'_>| Ok((limit, name.map(str::parse).transpose()?));
    let ranges: Vec<(usize, Option<Selection<A>>)> = ranges
        .iter()
        .map(named)
        .collect::<Result<_, UnknownAlgorithm>>()?;
    ByLength::new(&ranges, None).map_err(|error| SelectionError::Ranges {
        operation: operation.to_owned(),
        error,
    })
}

impl Algorithms {
    /// The names of all operations.
    pub const OPERATIONS: [&'static str; 10] = {
        let mut names = [""; 10];
        let mut index = 0;
        while index < names.len() {
            names[index] = Collective::WITH_ALGORITHMS[index].name();
            index += 1;
        }
        names
    };

    /// The names of an operation's algorithms, as in docs/algorithms.md, without sizes.
    ///
    /// # Errors
    ///
    /// [`UnknownOperation`].
    ///
    /// # Examples
    ///
    /// ```
    /// let names = corecast_collectives::Algorithms::names("scan").unwrap();
    /// assert_eq!(names, ["chain", "doubling"]);
    /// ```
    pub fn names(operation: &str) -> Result<Vec<&'static str>, UnknownOperation> {
        Self::entries(operation).map(|entries| entries.iter().map(|entry| entry.name).collect())
    }

    /// The names of an operation's algorithms, each followed by those with the sizes that it can be asked for with.
    ///
    /// # Errors
    ///
    /// [`UnknownOperation`].
    ///
    /// # Examples
    ///
    /// ```
    /// let names = corecast_collectives::Algorithms::sized_names("scan").unwrap();
    /// assert_eq!(names[..3], ["chain", "chain:4K", "chain:8K"]);
    /// ```
    pub fn sized_names(operation: &str) -> Result<Vec<&'static str>, UnknownOperation> {
        let sizes = |entry: &Entry| entry.sizes.map_or(&[][..], |sizes| sizes.names);
        let entries = Self::entries(operation)?.into_iter();
        Ok(entries
            .flat_map(|entry| [&[entry.name], sizes(entry)].concat())
            .collect())
    }

    fn entries(operation: &str) -> Result<Vec<&'static Entry>, UnknownOperation> {
        macro_rules! each {
            ($($operation:ident),*) => {
                match operation {
                    "barrier" => Ok(all(barrier::Algorithm::ALL)),
                    $(stringify!($operation) => Ok(all($operation::Algorithm::ALL)),)*
                    _ => Err(UnknownOperation(operation.to_owned())),
                }
            };
        }
        fn all<A: Registered>(all: &[A]) -> Vec<&'static Entry> {
            all.iter().map(|one| one.entry()).collect()
        }
        each_by_length!(each)
    }

    /// Asks for these ranges of an operation, in increasing order of lengths, in place of those that were asked for
    /// before. Beyond the last range Corecast chooses.
    ///
    /// # Errors
    ///
    /// [`SelectionError`].
    ///
    /// # Examples
    ///
    /// ```
    /// let mut asked = corecast_collectives::Algorithms::default();
    /// asked.ask("allreduce", &[(56, None), (usize::MAX, Some("ring"))])?;
    /// assert_eq!(asked.asked("allreduce", 57)?, Some("ring"));
    /// # Ok::<(), corecast_collectives::preferences::SelectionError>(())
    /// ```
    pub fn ask(
        &mut self,
        operation: &str,
        ranges: &[NamedRange<'_>],
    ) -> Result<(), SelectionError> {
        macro_rules! each {
            ($($operation:ident),*) => {
                match operation {
                    "barrier" => self.barrier = match *ranges {
                        [] => None,
                        [(usize::MAX, name)] => name.map(str::parse).transpose()?,
                        _ => return Err(SelectionError::Barrier),
                    },
                    $(stringify!($operation) => self.$operation = table(operation, ranges)?,)*
                    _ => return Err(UnknownOperation(operation.to_owned()).into()),
                }
            };
        }
        each_by_length!(each);
        Ok(())
    }

    /// The name of the algorithm that is asked for in an operation at a length of `bytes`, if any is.
    ///
    /// # Errors
    ///
    /// [`UnknownOperation`].
    pub fn asked(
        &self,
        operation: &str,
        bytes: usize,
    ) -> Result<Option<&'static str>, UnknownOperation> {
        let ranges = self.asked_ranges(operation)?;
        let found = ranges.into_iter().find(|&(limit, _)| bytes <= limit);
        Ok(found.and_then(|(_, name)| name))
    }

    /// The ranges that are asked for in an operation, in increasing order of lengths; the last one ends at
    /// `usize::MAX`. A barrier has one range.
    ///
    /// # Errors
    ///
    /// [`UnknownOperation`].
    pub fn asked_ranges(
        &self,
        operation: &str,
    ) -> Result<Vec<NamedRange<'static>>, UnknownOperation> {
        macro_rules! each {
            ($($operation:ident),*) => {
                match operation {
                    "barrier" => Ok(vec![(usize::MAX, self.barrier.map(Selection::name))]),
                    $(stringify!($operation) => {
                        let ranges = self.$operation.ranges();
                        Ok(ranges
                            .map(|(limit, one)| (limit, one.map(Selection::name)))
                            .collect())
                    })*
                    _ => Err(UnknownOperation(operation.to_owned())),
                }
            };
        }
        each_by_length!(each)
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == self.unasked()
    }
}
