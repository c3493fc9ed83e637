//! The NUMA placement of a segment.

use std::fmt;

/// The place where a segment's memory lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// No node was asked for.
    Anywhere,
    /// On this node (operating system's number), as asked, and confirmed by the kernel.
    On(u32),
    /// The kernel refused or ignored the request; the sentence says which.
    Elsewhere(String),
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anywhere => f.write_str("anywhere"),
            Self::On(node) => write!(f, "NUMA node {node}"),
            Self::Elsewhere(why) => f.write_str(why),
        }
    }
}
