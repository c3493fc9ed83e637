//! How far a scan goes.

/// Which ranks a rank's result covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upto {
    /// Those up to its own.
    Own,
    /// Those before its own; the first rank's data stay as they are.
    Before,
}
