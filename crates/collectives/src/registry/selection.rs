//! An algorithm with the size that it is asked for with.

use super::{Entry, Request, TeamTraits, UnknownAlgorithm, names_near};
use corecast_model::Collective;
use std::f64::consts::SQRT_2;
use std::fmt::{self, Debug, Display, Formatter};
use std::str::FromStr;

/// The algorithms of a collective.
pub trait Registered: Copy + PartialEq + Debug + 'static {
    /// The collective.
    const COLLECTIVE: Collective;
    /// All algorithms of the collective.
    const ALL: &'static [Self];

    /// The algorithm's entry in the registry.
    fn entry(self) -> &'static Entry;
}

/// An algorithm, and the size of its segments or groups if one is asked for: `chain`, `chain:64K`, `m-way:3`.
///
/// # Examples
///
/// ```
/// use corecast_collectives::{Selection, broadcast::Algorithm};
///
/// let chain: Selection<Algorithm> = "chain:64K".parse()?;
/// assert_eq!((chain.algorithm, chain.size()), (Algorithm::Chain, Some(64 << 10)));
/// assert_eq!(Selection::sized(Algorithm::Chain, 64 << 10), Some(chain));
/// assert_eq!(Selection::from(Algorithm::Chain).size(), None);
/// assert_eq!(Selection::sized(Algorithm::Messages, 64 << 10), None);
/// # Ok::<(), corecast_collectives::preferences::UnknownAlgorithm>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Selection<A> {
    /// The algorithm.
    pub algorithm: A,
    /// The place of its size among those that can be asked for, counted from 1; 0 if none is asked for.
    place: u8,
}

impl<A> From<A> for Selection<A> {
    fn from(algorithm: A) -> Self {
        Self {
            algorithm,
            place: 0,
        }
    }
}

impl<A: Registered> Selection<A> {
    /// What was asked for if it serves the team, else the usual algorithm.
    #[inline]
    pub(crate) fn asked_or<S: Into<Self>>(
        asked: Option<Self>,
        request: &Request,
        traits: &TeamTraits,
        usual: impl FnOnce(&Request, &TeamTraits) -> S,
    ) -> Self {
        asked
            .filter(|asked| asked.entry().serves(request, traits))
            .unwrap_or_else(|| usual(request, traits).into())
    }

    /// The algorithm with a size; `None` if it cannot be asked for with this one.
    pub fn sized(algorithm: A, size: usize) -> Option<Self> {
        let kind = algorithm.entry().sizes?.kind;
        let place = kind.values().iter().position(|&one| one == size)?;
        Self::at(algorithm, place + 1)
    }

    /// The algorithm with the pipeline segments that are nearest to `bytes`, by ratio, of those that can be asked for; without a
    /// size if these are its own, or for `None`.
    pub(crate) fn in_segments(algorithm: A, bytes: Option<usize>) -> Self {
        let Some(bytes) = bytes else {
            return algorithm.into();
        };
        let sizes = algorithm.entry().sizes.expect("an algorithm with segments");
        let values = sizes.kind.values();
        let is_near = |&size: &usize| size as f64 * SQRT_2 >= bytes as f64;
        let at = values.iter().position(is_near).unwrap_or(values.len() - 1);
        let is_built_in = values[at] == sizes.kind.built_in(0);
        Self {
            algorithm,
            place: if is_built_in { 0 } else { at as u8 + 1 },
        }
    }

    /// The algorithm with the size at a place, counted from 1; without a size for 0.
    pub(crate) fn at(algorithm: A, place: usize) -> Option<Self> {
        let places = algorithm.entry().sizes.map_or(0, |sizes| sizes.names.len());
        (place <= places).then_some(Self {
            algorithm,
            place: place as u8,
        })
    }

    pub(crate) fn place(self) -> usize {
        self.place.into()
    }

    /// The size that is asked for.
    pub fn size(self) -> Option<usize> {
        let at = self.place().checked_sub(1)?;
        Some(self.algorithm.entry().sizes?.kind.values()[at])
    }

    /// The size in a team of `ranks`, whether it is asked for or built in; 0 for algorithms without sizes.
    pub(crate) fn size_or_built_in(self, ranks: usize) -> usize {
        let built_in = |sizes: super::Sizes| sizes.kind.built_in(ranks);
        let usual = || self.algorithm.entry().sizes.map_or(0, built_in);
        self.size().unwrap_or_else(usual)
    }

    /// The algorithm's name, with the size if one is asked for.
    pub fn name(self) -> &'static str {
        let entry = self.algorithm.entry();
        match (self.place().checked_sub(1), entry.sizes) {
            (Some(at), Some(sizes)) => sizes.names[at],
            _ => entry.name,
        }
    }

    /// The algorithm's entry in the registry.
    pub fn entry(self) -> &'static Entry {
        self.algorithm.entry()
    }
}

impl<A: Registered> Display for Selection<A> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl<A: Registered> FromStr for Selection<A> {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let named = |&one: &A| Self::at(one, one.entry().place_of(name)?);
        A::ALL
            .iter()
            .find_map(named)
            .ok_or_else(|| UnknownAlgorithm {
                operation: A::COLLECTIVE,
                name: name.to_owned(),
                known: names_near(A::ALL.iter().map(|one| one.entry()), name),
            })
    }
}
