//! What is called: a collective, an algorithm of it, its root and its size.

use corecast_coll::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan,
    scatter,
};
use std::fmt;
use std::str::FromStr;

/// The collectives of [`corecast_coll`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Collective {
    /// Nobody leaves before everybody has come.
    Barrier,
    /// One rank's data for everybody.
    Broadcast,
    /// The sum of all at one rank.
    Reduce,
    /// The sum of all at all.
    Allreduce,
    /// A block of one rank's data for each.
    Scatter,
    /// Everybody's data at one rank.
    Gather,
    /// Everybody's data at all.
    Allgather,
    /// A block of each for each.
    Alltoall,
    /// A block of the sum for each.
    ReduceScatter,
    /// The sum of all ranks up to each.
    Scan,
}

impl Collective {
    /// Every one.
    pub const ALL: [Self; 10] = [
        Self::Barrier,
        Self::Broadcast,
        Self::Reduce,
        Self::Allreduce,
        Self::Scatter,
        Self::Gather,
        Self::Allgather,
        Self::Alltoall,
        Self::ReduceScatter,
        Self::Scan,
    ];

    /// Its name, as in docs/algorithms.md.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::Scatter => "scatter",
            Self::Gather => "gather",
            Self::Allgather => "allgather",
            Self::Alltoall => "alltoall",
            Self::ReduceScatter => "reduce_scatter",
            Self::Scan => "scan",
        }
    }

    /// The names of its algorithms, as in docs/algorithms.md. `trees` of allgather, allreduce and
    /// reduce_scatter are two other collectives one after the other, and not among them.
    pub fn algorithms(self) -> Vec<&'static str> {
        macro_rules! names {
            ($($variant:ident => $module:ident),*) => {
                match self {
                    $(Self::$variant => {
                        $module::Algorithm::ALL.iter().map(|one| one.name()).collect()
                    })*
                }
            };
        }
        let mut names: Vec<&'static str> = names!(
            Barrier => barrier, Broadcast => broadcast, Reduce => reduce, Allreduce => allreduce,
            Scatter => scatter, Gather => gather, Allgather => allgather, Alltoall => alltoall,
            ReduceScatter => reduce_scatter, Scan => scan
        );
        names.retain(|&name| name != "trees");
        names
    }

    /// How many blocks of data a rank brings, or the root of a scatter for all: a block is what each rank gives or
    /// gets, in an alltoall what it gives each other one.
    ///
    /// ```
    /// use corecast_sim::drive::Collective;
    ///
    /// assert_eq!(Collective::Broadcast.blocks(8), 1);
    /// assert_eq!(Collective::Alltoall.blocks(8), 8);
    /// assert_eq!(Collective::Barrier.blocks(8), 0);
    /// ```
    pub const fn blocks(self, n: usize) -> usize {
        match self {
            Self::Barrier => 0,
            Self::Alltoall | Self::ReduceScatter | Self::Scatter => n,
            _ => 1,
        }
    }

    /// What a team would choose for `bytes` on `n` ranks that are all linked and have a core each, see
    /// [`Call::bytes`]. Long broadcasts between two ranks, which really go in posts of 16 KiB, count as a loan:
    /// here a post has one line.
    pub fn usual_algorithm(self, n: usize, bytes: usize) -> &'static str {
        let short = bytes <= super::MESSAGE_BYTES;
        match self {
            Self::Barrier => "tree",
            Self::Broadcast | Self::Reduce if short => "messages",
            Self::Broadcast if n == 2 => "whole",
            Self::Broadcast | Self::Reduce => "fixed",
            Self::Allreduce if short => "messages",
            Self::Allreduce | Self::ReduceScatter => "owners",
            Self::Scatter | Self::Gather if short => "push",
            Self::Scatter | Self::Gather => "pull",
            Self::Allgather | Self::Alltoall => "direct",
            Self::Scan if short && n > 2 => "doubling",
            Self::Scan => "chain",
        }
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Collective {
    type Err = CallError;

    fn from_str(name: &str) -> Result<Self, CallError> {
        let found = Self::ALL.into_iter().find(|one| one.name() == name);
        found.ok_or_else(|| CallError::Collective {
            name: name.to_owned(),
        })
    }
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
    /// How: a name of [`Collective::algorithms`].
    pub algorithm: String,
    /// From or to whom, where that matters.
    pub root: usize,
    /// Bytes that one rank brings, or the root of a scatter for all.
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
        let known = collective.algorithms();
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

    /// Whether `n` ranks can do it.
    pub(super) fn check(&self, n: usize) -> Result<(), CallError> {
        if self.root >= n {
            return Err(CallError::Root { root: self.root, n });
        }
        let (power, few) = (n.is_power_of_two(), n <= 16);
        let needs = match self.algorithm.as_str() {
            "rabenseifner" | "halving" if !power => Some("a power of two"),
            "line" if !few => Some("at most 16"),
            _ => None,
        };
        match needs {
            Some(needs) => Err(CallError::Ranks {
                call: self.to_string(),
                n,
                needs,
            }),
            None => Ok(()),
        }
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

/// Why something cannot be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No such collective.
    #[error("no collective is called {name:?}: take one of {}", names(&Collective::ALL.map(Collective::name)))]
    Collective {
        /// What was asked for.
        name: String,
    },
    /// No such algorithm.
    #[error("no algorithm of {collective} is called {name:?}: take one of {}", names(&collective.algorithms()))]
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
