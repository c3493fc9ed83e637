//! A call: a collective, one of its algorithms, its root and its size.

use corecast_collectives::registry::names_near;
use corecast_collectives::{Algorithms, Collective, entries, entry};
use std::fmt;

/// Bytes that a published line holds on a simulated machine; on a real one longer data follow in a body.
const PUBLISH_BYTES: usize = 56;

/// The names of a collective's algorithms without sizes, in the order of docs/algorithms.md.
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
/// assert!(Call::new(Collective::Broadcast, "chain:64K", 0, 1 << 20).is_ok());
/// assert!(Call::new(Collective::Broadcast, "pigeons", 0, 56).is_err());
/// # Ok::<(), corecast_sim::drive::CallError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The collective.
    pub collective: Collective,
    /// The name of the algorithm, one of [`algorithms`], perhaps with a size as in `chain:64K`.
    pub algorithm: String,
    /// The root rank, for collectives that have one.
    pub root: usize,
    /// Bytes that each rank contributes; in a broadcast and a scatter, bytes of the root. A scatter and an alltoall
    /// cut them into one part for each rank, and leave out the remainder.
    pub bytes: usize,
}

impl Call {
    /// A call of `collective` by `algorithm`.
    ///
    /// # Errors
    ///
    /// [`CallError::Algorithm`], if the collective has no algorithm of this name.
    pub fn new(
        collective: Collective,
        algorithm: &str,
        root: usize,
        bytes: usize,
    ) -> Result<Self, CallError> {
        if entry(collective, algorithm).is_none() {
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

    /// Whether a team on hardware does the same. What does not fit a published line goes line by line on a simulated
    /// machine, and in a body on a real one.
    pub fn is_as_on_hardware(&self) -> bool {
        self.algorithm != "line" || self.bytes <= PUBLISH_BYTES
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
/// [`CallError::Collective`], if there is none.
pub fn collective(name: &str) -> Result<Collective, CallError> {
    let found = Collective::WITH_ALGORITHMS
        .into_iter()
        .find(|one| one.name() == name);
    found.ok_or_else(|| CallError::Collective {
        name: name.to_owned(),
    })
}

/// Why a call cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No collective that can be called has this name.
    #[error("no collective is called {name:?}: take one of {}", names(&Collective::WITH_ALGORITHMS.map(Collective::name)))]
    Collective {
        /// The one that was asked for.
        name: String,
    },
    /// The collective has no algorithm of this name.
    #[error("no algorithm of {collective} is called {name:?}: take one of {}", names(&known(*collective, name)))]
    Algorithm {
        /// The collective.
        collective: Collective,
        /// The one that was asked for.
        name: String,
    },
    /// The root is not one of the ranks.
    #[error("root {root} is none of {n} ranks: take one below {n}")]
    Root {
        /// The one that was asked for.
        root: usize,
        /// The number of ranks.
        n: usize,
    },
    /// The groups of the plan are for another root.
    #[error("the plan has groups from root {plan}, not from {asked}: call it from {plan}")]
    GroupRoot {
        /// The root of the plan's groups.
        plan: usize,
        /// The one that was asked for.
        asked: usize,
    },
    /// The algorithm cannot run on this number of ranks.
    #[error("{call} on {n} ranks: it needs {needs}")]
    Ranks {
        /// The one that was asked for.
        call: String,
        /// The number of ranks.
        n: usize,
        /// The need that is not met, in words.
        needs: &'static str,
    },
}

/// The names that could have been meant by `name`.
fn known(collective: Collective, name: &str) -> Vec<&'static str> {
    let own = entries().into_iter();
    names_near(own.filter(|entry| entry.collective == collective), name)
}

fn names(names: &[&str]) -> String {
    names.join(", ")
}
