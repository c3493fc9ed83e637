//! The options of a run, its result, and the error of a run that has none.

use crate::machine::SimMachineError;
use crate::memory::Counts;
use crate::trace::Trace;
use serde::Serialize;

/// The options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// The seed of all random numbers.
    pub seed: u64,
    /// The greatest random delay of each request that misses, in units of the machine.
    pub jitter: f64,
    /// Whether to record a timeline of all ranks.
    pub trace: bool,
    /// Whether the invariants of coherence are checked after each change.
    pub checking: bool,
    /// The run is given up after this time, in units of the machine.
    pub limit: f64,
    /// Bytes of a rank's stack. Teams of up to 256 get 256 KiB at least, so that a panic can say where it happened;
    /// pages that are not touched take no memory.
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
    /// The description of the machine makes no sense.
    #[error(transparent)]
    SimMachine(#[from] SimMachineError),
    /// The machine does not have this core, or two ranks are on it.
    #[error("core {core} of {machine:?}: it has {cores} cores, and each serves one rank")]
    Core {
        /// The core that was asked for.
        core: usize,
        /// The name of the machine.
        machine: String,
        /// The number of its cores.
        cores: usize,
    },
    /// All ranks wait, and no event is left.
    #[error("at {at} everybody waits, and nothing can happen any more: {waits}")]
    Stuck {
        /// The virtual time, with its unit.
        at: String,
        /// The ranks that wait, and what each of them waits for.
        waits: String,
    },
    /// The run exceeds its limit.
    #[error(
        "not done at {at}: the run was limited to that, or a rank polls for something that never comes"
    )]
    Limit {
        /// The virtual time at which it was given up, with its unit.
        at: String,
    },
    /// Ranks of several hosts share lines.
    #[error(
        "{call}: its ranks share lines, and no line is shared between hosts: take an algorithm of messages or loans"
    )]
    SharedLines {
        /// The call.
        call: String,
    },
    /// There is no memory for the stacks.
    #[error("no memory for the stacks of {ranks} ranks: {why}")]
    Stacks {
        /// The number of ranks.
        ranks: usize,
        /// The error of the operating system.
        why: String,
    },
}

impl SimError {
    /// [`Core`](Self::Core), unless a machine of `count` cores has each of these, and none is there twice.
    pub(crate) fn check_cores(cores: &[usize], machine: &str, count: usize) -> Result<(), Self> {
        let mut seen = vec![false; count];
        for &core in cores {
            if core >= count || std::mem::replace(&mut seen[core], true) {
                return Err(Self::Core {
                    core,
                    machine: machine.to_owned(),
                    cores: count,
                });
            }
        }
        Ok(())
    }
}

/// The load of one server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServerUse {
    /// The name of the server.
    pub name: String,
    /// Requests that it served.
    pub served: u64,
    /// The time for which it is busy, by that of the run: above 1 where lines are written back after the run.
    pub utilisation: f64,
    /// The mean wait of a request.
    pub wait_mean: f64,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct RunOutcome<R> {
    /// What each rank returned.
    pub results: Vec<R>,
    /// When each rank ended, in units of the machine.
    pub ends: Vec<f64>,
    /// The counters of transfers, invalidations and other events.
    pub counts: Counts,
    /// The servers that served at least one request.
    pub servers: Vec<ServerUse>,
    /// The timeline, if it was requested.
    pub trace: Trace,
    /// The span of time to which [`counts`](Self::counts) and [`servers`](Self::servers) refer.
    pub span: f64,
}

impl<R> RunOutcome<R> {
    /// When the last rank ended.
    pub fn end(&self) -> f64 {
        self.ends.iter().copied().fold(0.0, f64::max)
    }
}
