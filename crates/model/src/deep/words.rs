//! The enumerations of the section, as text in the file. Unknown words are refused, and the message quotes
//! them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The access of a thread to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// The thread reads the line.
    Read,
    /// The thread writes the line, and waits until all others would see that.
    Write,
}

/// The state of a line before it is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// One thread has written it.
    Modified,
    /// One thread has read it, and no other.
    Exclusive,
    /// Two threads have read it.
    Shared,
    /// No cache has it.
    Invalid,
}

impl State {
    /// Returns the name, as in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Modified => "modified",
            Self::Exclusive => "exclusive",
            Self::Shared => "shared",
            Self::Invalid => "invalid",
        }
    }
}

/// The quantity that grows along a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CurveKind {
    /// Threads that read one line at once.
    Contention,
    /// Pairs of threads that each move lines of their own.
    Congestion,
    /// Lines of one transfer.
    Lines,
}

/// A cache, or memory. As text `L1`, `L2`, …, `memory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Level {
    /// The cache of this level, where 1 is the nearest.
    Cache(u8),
    /// Memory: no cache has the line.
    Memory,
}

/// The proximity of two threads, nearest first. As text `own`, `same core`, `same L3 cache`, `same NUMA
/// node`, `same package`, `other package`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Near {
    /// The two are the same thread.
    Own,
    /// SMT siblings.
    SameCore,
    /// Different cores that share a data cache of this level, the nearest that they share.
    SameCache(u8),
    /// Different cores of one NUMA node without a cache in common.
    SameNumaNode,
    /// One package, different NUMA nodes.
    SamePackage,
    /// Different packages.
    OtherPackage,
}

/// Returns the number between two words.
fn numbered(text: &str, before: &str, after: &str) -> Option<u8> {
    let digits = text.strip_prefix(before)?.strip_suffix(after)?;
    let number = digits.parse().ok()?;
    // Other spellings of the number, such as `01`, are refused.
    (number > 0 && format!("{number}") == digits).then_some(number)
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cache(level) => write!(f, "L{level}"),
            Self::Memory => f.write_str("memory"),
        }
    }
}

impl TryFrom<String> for Level {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match numbered(&text, "L", "") {
            Some(level) => Ok(Self::Cache(level)),
            None if text == "memory" => Ok(Self::Memory),
            None => Err(format!(
                "level {text:?} is unknown: use L1, L2, … or memory"
            )),
        }
    }
}

impl From<Level> for String {
    fn from(level: Level) -> Self {
        level.to_string()
    }
}

impl fmt::Display for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("own"),
            Self::SameCore => f.write_str("same core"),
            Self::SameCache(level) => write!(f, "same L{level} cache"),
            Self::SameNumaNode => f.write_str("same NUMA node"),
            Self::SamePackage => f.write_str("same package"),
            Self::OtherPackage => f.write_str("other package"),
        }
    }
}

impl TryFrom<String> for Near {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let plain = [
            Self::Own,
            Self::SameCore,
            Self::SameNumaNode,
            Self::SamePackage,
            Self::OtherPackage,
        ];
        if let Some(near) = plain.into_iter().find(|near| near.to_string() == text) {
            return Ok(near);
        }
        let level = numbered(&text, "same L", " cache");
        level.map(Self::SameCache).ok_or_else(|| {
            format!(
                "place {text:?} is unknown: use own, same core, same L3 cache, same NUMA node, same package \
                 or other package"
            )
        })
    }
}

impl From<Near> for String {
    fn from(near: Near) -> Self {
        near.to_string()
    }
}
