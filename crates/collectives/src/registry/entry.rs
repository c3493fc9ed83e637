//! An algorithm's entry in the registry.

use super::{Need, Request, TeamTraits};
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

    /// The algorithm's row in docs/algorithms.md.
    pub fn row(&self) -> String {
        let needs: Vec<&str> = self.needs.iter().map(|need| need.text()).collect();
        let needs = match needs.is_empty() {
            true => "none".to_owned(),
            false => needs.join(", "),
        };
        format!(
            "| {} | {} | `{}` | {} | {} | {} | {} | {} |",
            self.collective,
            self.name,
            self.file,
            self.source,
            needs,
            self.phases.join(", "),
            self.transfers,
            self.bytes
        )
    }
}

/// Makes the enum of a collective's algorithms, with entries, names and parser, from one list.
macro_rules! algorithms {
    (
        $(#[$doc:meta])*
        pub enum Algorithm: $collective:ident {
            $(
                $(#[$variant_doc:meta])*
                $variant:ident = $name:literal in $file:literal, $source:literal,
                needs [$($need:ident),*], phases [$($phase:literal),*], costs $transfers:literal, $bytes:literal;
            )+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Algorithm {
            $($(#[$variant_doc])* $variant),+
        }

        impl Algorithm {
            /// All algorithms of the collective.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The algorithm's entry in the registry.
            #[inline]
            pub const fn entry(self) -> &'static $crate::registry::Entry {
                use $crate::registry::{Entry, Need};
                const COLLECTIVE: corecast_model::Collective = corecast_model::Collective::$collective;
                match self {
                    $(Self::$variant => const {
                        &Entry {
                            collective: COLLECTIVE,
                            name: $name,
                            file: $file,
                            source: $source,
                            needs: &[$(Need::$need),*],
                            phases: &[$($phase),*],
                            transfers: $transfers,
                            bytes: $bytes,
                        }
                    }),+
                }
            }

            /// The algorithm's name.
            pub const fn name(self) -> &'static str {
                self.entry().name
            }
        }

        impl std::fmt::Display for Algorithm {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for Algorithm {
            type Err = $crate::registry::UnknownAlgorithm;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().copied().find(|one| one.name() == name);
                found.ok_or_else(|| $crate::registry::UnknownAlgorithm {
                    operation: corecast_model::Collective::$collective,
                    name: name.to_owned(),
                    known: Self::ALL.iter().map(|one| one.name()).collect(),
                })
            }
        }
    };
}
pub(crate) use algorithms;
