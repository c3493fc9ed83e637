//! The options of a run, its result, and why a run has none.

use crate::machine::SimMachineError;
use crate::memory::Counts;
use crate::trace::Trace;

/// How to run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// Of what is left to chance.
    pub seed: u64,
    /// Each request that misses is late by up to so much, in units of the machine.
    pub jitter: f64,
    /// Whether to note what each rank does when.
    pub trace: bool,
    /// Whether the invariants of coherence are checked after each change.
    pub checking: bool,
    /// Units of time after which a run is given up.
    pub limit: f64,
    /// Bytes of a rank's stack. Teams of up to 256 get 256 KiB at least, so that a panic can say where it
    /// happened; pages that nobody touches take no memory.
    pub stack_bytes: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            jitter: 0.0,
            trace: false,
            checking: cfg!(debug_assertions),
            limit: 1e9,
            stack_bytes: 32 * 1024,
        }
    }
}

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// The machine is none.
    #[error(transparent)]
    SimMachine(#[from] SimMachineError),
    /// A core that the machine does not have, or has for two ranks.
    #[error("core {core} of {machine:?}: it has {cores} cores, and each serves one rank")]
    Core {
        /// What was asked for.
        core: usize,
        /// Of which machine.
        machine: String,
        /// How many there are.
        cores: usize,
    },
    /// All ranks wait, and nothing will happen any more.
    #[error("at {at} everybody waits, and nothing can happen any more: {waits}")]
    Stuck {
        /// When.
        at: String,
        /// Who waits for what.
        waits: String,
    },
    /// It takes too long.
    #[error(
        "not done at {at}: the run was limited to that, or a rank polls for something that never comes"
    )]
    Limit {
        /// When it was given up.
        at: String,
    },
    /// There was no memory for stacks.
    #[error("no memory for the stacks of {ranks} ranks: {why}")]
    Stacks {
        /// For how many.
        ranks: usize,
        /// What the kernel says.
        why: String,
    },
}

/// How much one server had to do.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerUse {
    /// Which one.
    pub name: String,
    /// Requests that it served.
    pub served: u64,
    /// Part of the time that it was busy, of the whole run.
    pub utilisation: f64,
    /// How long a request waited on average.
    pub wait_mean: f64,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct RunOutcome<R> {
    /// What each rank returned.
    pub results: Vec<R>,
    /// When each rank ended, in units of the machine.
    pub ends: Vec<f64>,
    /// Transfers, invalidations and so on.
    pub counts: Counts,
    /// Servers that had something to do, by name.
    pub servers: Vec<ServerUse>,
    /// What each rank did when, if that was asked for.
    pub trace: Trace,
    /// Time that was counted in [`counts`](Self::counts) and [`servers`](Self::servers).
    pub span: f64,
}

impl<R> RunOutcome<R> {
    /// When the last rank ended.
    pub fn end(&self) -> f64 {
        self.ends.iter().copied().fold(0.0, f64::max)
    }
}
