//! The ranks that a scan covers.

/// The ranks that a rank's result covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upto {
    /// Those up to its own, as in an inclusive scan.
    Own,
    /// Those before its own, as in an exclusive scan; the first rank's data stay as they are.
    Before,
}
