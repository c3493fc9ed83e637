//! Which algorithm each operation of a team runs.

use crate::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan,
    scatter,
};

/// Algorithms asked for instead of those that Corecast would choose by size. One that cannot do
/// what it is asked for is not used: the operation then chooses as if nothing had been asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Algorithms {
    /// Of barriers.
    pub barrier: Option<barrier::Algorithm>,
    /// Of broadcasts.
    pub broadcast: Option<broadcast::Algorithm>,
    /// Of reductions.
    pub reduce: Option<reduce::Algorithm>,
    /// Of allreductions.
    pub allreduce: Option<allreduce::Algorithm>,
    /// Of scatters.
    pub scatter: Option<scatter::Algorithm>,
    /// Of gathers.
    pub gather: Option<gather::Algorithm>,
    /// Of allgathers.
    pub allgather: Option<allgather::Algorithm>,
    /// Of all-to-alls.
    pub alltoall: Option<alltoall::Algorithm>,
    /// Of reductions that are scattered.
    pub reduce_scatter: Option<reduce_scatter::Algorithm>,
    /// Of scans, inclusive and exclusive.
    pub scan: Option<scan::Algorithm>,
}

/// Names of an algorithm type: `ALL`, `Display` and `FromStr` from one list.
macro_rules! named {
    (
        $(#[$doc:meta])*
        pub enum Algorithm: $operation:literal {
            $($(#[$variant_doc:meta])* $variant:ident = $name:literal),+ $(,)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Algorithm {
            $($(#[$variant_doc])* $variant),+
        }

        impl Algorithm {
            /// Every one.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }

        impl std::fmt::Display for Algorithm {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for Algorithm {
            type Err = crate::algorithms::UnknownAlgorithm;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().copied().find(|one| one.name() == name);
                found.ok_or_else(|| crate::algorithms::UnknownAlgorithm {
                    operation: $operation,
                    name: name.to_owned(),
                    known: Self::ALL.iter().map(|one| one.name()).collect(),
                })
            }
        }
    };
}
pub(crate) use named;

/// A name that is no algorithm of an operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no algorithm of {operation} is called '{name}': take one of {}", known.join(", "))]
pub struct UnknownAlgorithm {
    /// The operation.
    pub operation: &'static str,
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub known: Vec<&'static str>,
}
