//! The macro that makes the enum of a collective's algorithms.

/// Makes the enum of a collective's algorithms, with entries, names and parser, from one list.
macro_rules! algorithms {
    (
        $(#[$doc:meta])*
        pub enum Algorithm: $collective:ident {
            $(
                $(#[$variant_doc:meta])*
                $variant:ident = $name:literal in $file:literal, $source:literal,
                needs [$($need:ident),*], $(size $kind:ident $(($built_in:expr))?,)? phases [$($phase:literal),*], costs $transfers:literal, $bytes:literal;
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
                            sizes: $crate::registry::algorithms!(@sizes $name $($kind $(($built_in))?)?),
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

        impl $crate::registry::Registered for Algorithm {
            const COLLECTIVE: corecast_model::Collective = corecast_model::Collective::$collective;
            const ALL: &'static [Self] = Self::ALL;

            fn entry(self) -> &'static $crate::registry::Entry {
                self.entry()
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
    (@sizes $name:literal) => {
        None
    };
    (@sizes $name:literal $kind:ident $(($built_in:expr))?) => {
        Some($crate::registry::Sizes {
            kind: $crate::registry::SizeKind::$kind $(($built_in))?,
            names: $crate::registry::sized_names!($name, $kind),
        })
    };
}
pub(crate) use algorithms;
