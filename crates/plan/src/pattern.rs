//! The families of shapes, by name.

use std::fmt;
use std::num::IntErrorKind;
use std::ops::ControlFlow;
use std::str::FromStr;

use corecast_model::CostModel;
use serde::{Deserialize, Serialize};

use crate::pace::{self, Pace};
use crate::patterns::{self, LevelShapes};
use crate::rounds::Rounds;
use crate::search;
use crate::smelt;
use crate::tree::Tree;

/// A family of trees or round schedules.
///
/// As text, a pattern has one of the names in [`Pattern::names`]. [`Pattern::Chain`] is what
/// Nishtala and Yelick call the radix-1 k-nomial tree (HotPar 2009, footnote 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Pattern {
    /// The best tree that a search finds, see [`crate::search`], with groups where costs say what
    /// shared lines cost, see [`crate::groups`]; [`Pattern::tree`] alone only constructs it.
    Best,
    /// The tree of [`Pattern::Best`], with the search going on until it is proved that none is
    /// better, see [`crate::best`].
    Optimal,
    /// Smelt's adaptive tree with both of its optimisations, see [`crate::smelt`].
    Smelt,
    /// [`patterns::binary`]
    Binary,
    /// [`patterns::fibonacci`]
    Fibonacci,
    /// [`patterns::sequential`]
    Sequential,
    /// [`patterns::mst`], out-degree unlimited, as the paper has it.
    Mst,
    /// [`patterns::mst`] with at most two children each, as Smelt's released code has it.
    MstBinary,
    /// [`patterns::cluster`]
    Cluster,
    /// [`patterns::bad`], out-degree unlimited, as the paper has it.
    Bad,
    /// [`patterns::bad`] with at most two children each, as Smelt's released code has it.
    BadBinary,
    /// [`patterns::knomial`]
    Knomial {
        /// At least 2; 2 is [`Pattern::Binomial`].
        radix: usize,
    },
    /// [`patterns::chain`]
    Chain,
    /// [`patterns::knomial`] of radix 2.
    Binomial,
    /// [`patterns::levels`], binomial on all levels unless the shapes are given.
    Levels(LevelShapes),
    /// [`Rounds::dissemination`], for barriers only.
    Dissemination {
        /// At least 2; in each round a member notifies up to `radix - 1` others.
        radix: usize,
    },
}

/// The text names no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The name is not known.
    #[error("pattern {found:?} is unknown: use one of {}", Pattern::names().join(", "))]
    Unknown {
        /// The name.
        found: String,
    },
    /// The shapes of the levels cannot be read.
    #[error(
        "pattern {found:?}: write the shapes of the three levels as in levels:binomial/binomial/flat, each of them binomial, flat or planned"
    )]
    Levels {
        /// The name with its shapes.
        found: String,
    },
    /// The radix is missing, no number, or below 2.
    #[error("pattern {found:?}: the radix must be a whole number of at least 2{hint}")]
    Radix {
        /// The name with its radix.
        found: String,
        /// A hint at a better name where the radix is 1, or at the upper limit where it is too great; otherwise empty.
        hint: &'static str,
    },
}

impl Pattern {
    /// The patterns without a parameter.
    const PLAIN: [(&'static str, Self); 14] = [
        ("best", Self::Best),
        ("optimal", Self::Optimal),
        ("smelt", Self::Smelt),
        ("binary", Self::Binary),
        ("fibonacci", Self::Fibonacci),
        ("sequential", Self::Sequential),
        ("mst", Self::Mst),
        ("mst-binary", Self::MstBinary),
        ("cluster", Self::Cluster),
        ("bad", Self::Bad),
        ("bad-binary", Self::BadBinary),
        ("chain", Self::Chain),
        ("binomial", Self::Binomial),
        ("levels", Self::Levels(LevelShapes::BINOMIAL)),
    ];

    /// All names, parameters written as letters.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        let plain = Self::PLAIN.iter().map(|&(name, _)| name);
        plain
            .chain(["levels:A/B/C", "knomial:K", "dissemination:K"])
            .collect()
    }

    /// Returns the tree patterns that need no measurement, with k-nomial trees of radix 3, 4 and 8.
    #[must_use]
    pub fn oblivious() -> Vec<Self> {
        let mut all = vec![
            Self::Binary,
            Self::Fibonacci,
            Self::Sequential,
            Self::Chain,
            Self::Binomial,
        ];
        all.extend([3, 4, 8].map(|radix| Self::Knomial { radix }));
        all
    }

    /// Whether the plan is searched for, so that it gets better with more time.
    #[must_use]
    pub fn is_searched(self) -> bool {
        matches!(self, Self::Best | Self::Optimal)
    }

    /// The pattern's broadcast tree; `None` for patterns that are round schedules.
    ///
    /// # Panics
    ///
    /// When the root is outside of the team or a radix is below 2.
    #[must_use]
    pub fn tree(self, costs: &CostModel, root: usize) -> Option<Tree> {
        pace::unwatched(|pace| self.tree_within(costs, root, pace))
    }

    /// Returns [`tree`](Self::tree), unless a watcher ends the search. What takes a few milliseconds at most does not
    /// ask.
    pub(crate) fn tree_within(
        self,
        costs: &CostModel,
        root: usize,
        pace: &mut Pace<'_>,
    ) -> ControlFlow<(), Option<Tree>> {
        let n = costs.n();
        assert!(root < n, "root {root} is outside of a team of {n}");
        ControlFlow::Continue(Some(match self {
            Self::Best | Self::Optimal => match search::construct_within(costs, Some(root), pace) {
                Some(tree) => tree,
                None => return ControlFlow::Break(()),
            },
            Self::Smelt => smelt::tree_within(costs, root, pace)?,
            Self::Binary => patterns::binary(n, root),
            Self::Fibonacci => patterns::fibonacci(n, root),
            Self::Sequential => patterns::sequential(n, root),
            Self::Mst => patterns::mst_within(costs, root, usize::MAX, pace)?,
            Self::MstBinary => patterns::mst_within(costs, root, 2, pace)?,
            Self::Cluster => patterns::cluster(costs.numa_nodes(), root),
            Self::Bad => patterns::bad_within(costs, root, usize::MAX, pace)?,
            Self::BadBinary => patterns::bad_within(costs, root, 2, pace)?,
            Self::Levels(shapes) => patterns::levels(costs, shapes, root),
            Self::Knomial { radix } => patterns::knomial(n, root, radix),
            Self::Chain => patterns::chain(n, root),
            Self::Binomial => patterns::knomial(n, root, 2),
            Self::Dissemination { .. } => return ControlFlow::Continue(None),
        }))
    }

    /// Whether the shape depends on costs, and not on the number of members and their NUMA nodes alone.
    pub(crate) fn looks_at_costs(self) -> bool {
        match self {
            Self::Best
            | Self::Optimal
            | Self::Smelt
            | Self::Mst
            | Self::MstBinary
            | Self::Bad
            | Self::BadBinary => true,
            Self::Levels(shapes) => shapes.looks_at_costs(),
            _ => false,
        }
    }

    /// The pattern's round schedule; `None` for patterns that are trees.
    ///
    /// # Panics
    ///
    /// When `n` is 0 or the radix is below 2.
    #[must_use]
    pub fn rounds(self, n: usize) -> Option<Rounds> {
        match self {
            Self::Dissemination { radix } => Some(Rounds::dissemination(n, radix)),
            _ => None,
        }
    }

    /// Returns the radix of patterns that have one.
    #[must_use]
    pub fn radix(self) -> Option<usize> {
        match self {
            Self::Knomial { radix } | Self::Dissemination { radix } => Some(radix),
            Self::Binomial => Some(2),
            _ => None,
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Levels(shapes) if *shapes != LevelShapes::BINOMIAL => {
                f.pad(&format!("levels:{shapes}"))
            }
            Self::Knomial { radix } => f.pad(&format!("knomial:{radix}")),
            Self::Dissemination { radix } => f.pad(&format!("dissemination:{radix}")),
            plain => {
                let named = Self::PLAIN.iter().find(|(_, pattern)| pattern == plain);
                f.pad(named.map_or("", |(name, _)| name))
            }
        }
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    /// Reads a name; `dissemination` without a radix has radix 2.
    fn from_str(text: &str) -> Result<Self, PatternError> {
        if let Some(&(_, pattern)) = Self::PLAIN.iter().find(|(name, _)| *name == text) {
            return Ok(pattern);
        }
        if let Some(shapes) = text.strip_prefix("levels:") {
            let found = || PatternError::Levels {
                found: text.to_owned(),
            };
            return shapes.parse().map(Self::Levels).map_err(|_| found());
        }
        let (name, radix) = match text.split_once(':') {
            Some((name, radix)) => (name, radix),
            None if text == "dissemination" => (text, "2"),
            None => (text, ""),
        };
        let make = match name {
            "knomial" => |radix| Self::Knomial { radix },
            "dissemination" => |radix| Self::Dissemination { radix },
            _ => {
                return Err(PatternError::Unknown {
                    found: text.to_owned(),
                });
            }
        };
        match radix.parse::<usize>() {
            Ok(radix) if radix >= 2 => Ok(make(radix)),
            parsed => {
                let hint = match (name, parsed) {
                    ("knomial", Ok(1)) => "; a radix-1 k-nomial tree is \"chain\"",
                    (_, Err(error)) if *error.kind() == IntErrorKind::PosOverflow => {
                        ", and no greater than a team can be"
                    }
                    _ => "",
                };
                Err(PatternError::Radix {
                    found: text.to_owned(),
                    hint,
                })
            }
        }
    }
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        text.parse()
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.to_string()
    }
}

#[cfg(test)]
mod tests;
