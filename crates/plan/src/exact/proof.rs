//! What a proof may use, and what it results in.

use std::ops::ControlFlow;

use crate::tree::Tree;

/// Largest team whose trees are all searched; larger teams only get the bound by multipliers.
pub const MEMBERS_MAX: usize = 64;

/// Limits on the resources of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Splits to look at. A million take 20 to 100 ms (AMD EPYC at 2.6 GHz, November 2026).
    pub work: u64,
    /// Whether multipliers come first. Otherwise a short pass without them comes before, which is enough for most
    /// teams of up to 16.
    pub multipliers_first: bool,
    /// Bytes that the tables of the proof may take.
    pub memory: usize,
}

impl Default for Limits {
    /// The default limits allow some ten seconds and 2 GiB.
    fn default() -> Self {
        Self {
            work: 400_000_000,
            multipliers_first: false,
            memory: 2 << 30,
        }
    }
}

/// The result of a proof, whether it finished or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// A latency that no broadcast tree beats, in the model's unit. Costs are counted in ticks: exactly where all
    /// are whole multiples of a decimal fraction of the unit, otherwise rounded down by less than one part in 10⁸
    /// of the latency.
    pub lower_bound: f64,
    /// A tree that is faster than the given one, if the proof found one.
    pub tree: Option<Tree>,
    /// Whether the bound equals the latency of the better of the two trees.
    pub optimal: bool,
    /// The number of splits that were looked at.
    pub work: u64,
}

/// A function that is called with the bound so far and the number of splits, and may end the proof.
pub type ProofWatch<'a> = &'a mut dyn FnMut(f64, u64) -> ControlFlow<()>;
