//! An algorithm's entry in the registry.

use super::{Need, Request, Sizes, TeamTraits};
use corecast_model::Collective;

/// The description of an algorithm: its name and source, and what it needs, does and costs.
///
/// # Examples
///
/// ```
/// use corecast_collectives::{allreduce, registry::Need};
///
/// let ring = allreduce::Algorithm::Ring.entry();
/// assert_eq!((ring.name, ring.transfers), ("ring", "2*n*(n-1)"));
/// assert_eq!(ring.needs, [Need::Ring, Need::Commutative]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The collective that it performs.
    pub collective: Collective,
    /// Its name, unique within the collective.
    pub name: &'static str,
    /// The file that holds it, in this crate's `src`.
    pub file: &'static str,
    /// The paper, book or program that it comes from, and remarks.
    pub source: &'static str,
    /// The conditions under which it can run, all of which must hold.
    pub needs: &'static [Need],
    /// The sizes that it can be asked for with, behind its name; `None` if it has none.
    pub sizes: Option<Sizes>,
    /// Its phases, one after the other.
    pub phases: &'static [&'static str],
    /// Number of transfers of all ranks together, as a formula in the letters of
    /// docs/algorithms.md.
    pub transfers: &'static str,
    /// Number of bytes of all ranks together, as a formula in the same letters.
    pub bytes: &'static str,
}

impl Entry {
    /// Whether the algorithm can serve `request` in a team with these traits.
    #[inline]
    pub fn serves(&self, request: &Request, traits: &TeamTraits) -> bool {
        self.needs.iter().all(|need| need.is_met(request, traits))
    }

    /// The size that the algorithm is asked for with by a name; `None` for its name without a size, and for other names.
    ///
    /// # Examples
    ///
    /// ```
    /// let chain = corecast_collectives::scan::Algorithm::Chain.entry();
    /// assert_eq!(chain.size_of("chain:64K"), Some(64 << 10));
    /// assert_eq!(chain.size_of("chain"), None);
    /// ```
    pub fn size_of(&self, name: &str) -> Option<usize> {
        let at = self.place_of(name)?.checked_sub(1)?;
        Some(self.sizes?.kind.values()[at])
    }

    /// The place of the size in a name of the algorithm, counted from 1, and 0 for the name without a size; `None` for
    /// other names.
    pub(crate) fn place_of(&self, name: &str) -> Option<usize> {
        if self.name == name {
            return Some(0);
        }
        let place = self.sizes?.names.iter().position(|&one| one == name);
        place.map(|at| at + 1)
    }

    /// The algorithm's row in docs/algorithms.md.
    pub fn row(&self) -> String {
        let needs: Vec<&str> = self.needs.iter().map(|need| need.text()).collect();
        let needs = match needs.is_empty() {
            true => "none".to_owned(),
            false => needs.join(", "),
        };
        format!(
            "| {} | {} | `{}` | {} | {} | {} | {} | {} | {} |",
            self.collective,
            self.name,
            self.file,
            self.source,
            needs,
            self.sizes
                .map_or_else(|| "none".to_owned(), |sizes| sizes.kind.text()),
            self.phases.join(", "),
            self.transfers,
            self.bytes
        )
    }
}
