//! What the oracles of plans allow.

/// Sums taken in another order differ in their last bits.
pub(crate) const ROUNDING: f64 = 1e-9;

/// To how much a proof is one: [`Plan::proved_optimal`].
pub(crate) const PROVED: f64 = 1e-7;

/// Teams up to this size are compared with the exact optimum.
pub(crate) const EXACT_MAX: usize = 7;

/// Additions that the bound by levels may take.
pub(crate) const LEVELS_WORK: u64 = 20_000;
