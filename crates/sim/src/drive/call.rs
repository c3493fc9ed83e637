//! What is called: a collective, an algorithm of it, its root and its size.

use corecast_collectives::{Algorithms, Collective};
use std::fmt;

/// The names of a collective's algorithms, in the order of docs/algorithms.md.
pub fn algorithms(collective: Collective) -> Vec<&'static str> {
    Algorithms::names(collective.name()).unwrap_or_default()
}

/// One call of a collective.
///
/// # Examples
///
/// ```
/// use corecast_sim::drive::{Call, Collective};
///
/// let call = Call::new(Collective::Broadcast, "messages", 0, 56)?;
/// assert_eq!(call.to_string(), "broadcast messages root=0 bytes=56");
/// assert!(Call::new(Collective::Broadcast, "pigeons", 0, 56).is_err());
/// # Ok::<(), corecast_sim::drive::CallError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// What.
    pub collective: Collective,
    /// How: a name of [`algorithms`].
    pub algorithm: String,
    /// From or to whom, where that matters.
    pub root: usize,
    /// Bytes that one rank brings, or the root of a scatter for all. Where they are parts for each of n ranks, as in a
    /// scatter and in an alltoall, each part has an n-th, and what is left over goes nowhere.
    pub bytes: usize,
}

impl Call {
    /// A call.
    ///
    /// # Errors
    ///
    /// An algorithm that the collective does not have.
    pub fn new(
        collective: Collective,
        algorithm: &str,
        root: usize,
        bytes: usize,
    ) -> Result<Self, CallError> {
        let known = algorithms(collective);
        if !known.contains(&algorithm) {
            return Err(CallError::Algorithm {
                collective,
                name: algorithm.to_owned(),
            });
        }
        Ok(Self {
            collective,
            algorithm: algorithm.to_owned(),
            root,
            bytes,
        })
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            collective,
            algorithm,
            root,
            bytes,
        } = self;
        write!(f, "{collective} {algorithm} root={root} bytes={bytes}")
    }
}

/// The collective of that name, if it can be called.
///
/// # Errors
///
/// [`CallError::Collective`].
pub fn collective(name: &str) -> Result<Collective, CallError> {
    let found = Collective::WITH_ALGORITHMS
        .into_iter()
        .find(|one| one.name() == name);
    found.ok_or_else(|| CallError::Collective {
        name: name.to_owned(),
    })
}

/// Why something cannot be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No such collective.
    #[error("no collective is called {name:?}: take one of {}", names(&Collective::WITH_ALGORITHMS.map(Collective::name)))]
    Collective {
        /// What was asked for.
        name: String,
    },
    /// No such algorithm.
    #[error("no algorithm of {collective} is called {name:?}: take one of {}", names(&algorithms(*collective)))]
    Algorithm {
        /// Of this collective.
        collective: Collective,
        /// What was asked for.
        name: String,
    },
    /// A root that is no rank.
    #[error("root {root} is none of {n} ranks: take one below {n}")]
    Root {
        /// What was asked for.
        root: usize,
        /// How many ranks there are.
        n: usize,
    },
    /// Groups serve one root.
    #[error("the plan has groups from root {plan}, not from {asked}: call it from {plan}")]
    GroupRoot {
        /// That of the plan.
        plan: usize,
        /// What was asked for.
        asked: usize,
    },
    /// Not for so many ranks.
    #[error("{call} on {n} ranks: it needs {needs}")]
    Ranks {
        /// What was asked for.
        call: String,
        /// How many ranks there are.
        n: usize,
        /// How many it takes.
        needs: &'static str,
    },
}

fn names(names: &[&str]) -> String {
    names.join(", ")
}
