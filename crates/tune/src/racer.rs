//! The [`Racer`] runs races: on the hardware, or on a model of it in tests.

use crate::sequential_test::SequentialTest;
use corecast_bench::sized::Task;
use corecast_collectives::{Algorithms, Plans};
use corecast_model::Collective;
use corecast_team::KernelCopies;
use corecast_wire::WaitConfig;
use std::sync::Arc;
use std::time::Duration;

/// The work that is timed in a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An operation at a size.
    Task(Task),
    /// A barrier and then a broadcast of one element. Where ranks share cores, the order in which ranks leave the
    /// barrier matters to the broadcast.
    BarrierThenBroadcast {
        /// Number of ranks.
        ranks: usize,
    },
}

impl Subject {
    /// The operation that is raced.
    pub fn operation(&self) -> Collective {
        match self {
            Self::Task(task) => task.operation,
            Self::BarrierThenBroadcast { .. } => Collective::Barrier,
        }
    }

    /// Bytes of a block; 0 for a barrier.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Task(task) => task.bytes,
            Self::BarrierThenBroadcast { .. } => 0,
        }
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Task(task) => task.fmt(f),
            Self::BarrierThenBroadcast { .. } => write!(f, "barrier, then broadcast"),
        }
    }
}

/// The plans, waits and algorithms of a team.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// The plans.
    pub plans: Arc<Plans>,
    /// How members wait; `None` for the default of teams of this size.
    pub wait_config: Option<WaitConfig>,
    /// The algorithms.
    pub algorithms: Algorithms,
    /// From which length on the kernel copies data between processes; `None` for the default.
    pub kernel_copies: Option<KernelCopies>,
}

/// A contender of a race.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// The name, unique in its race.
    pub name: String,
    /// The team that it runs with.
    pub form: Form,
}

/// Why there was no race.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{subject} was not raced: {reason}")]
pub struct RaceFailed {
    /// The name of the race's subject.
    pub subject: String,
    /// Why it could not be run.
    pub reason: String,
}

/// Runs up to `most` replicates, as many as `test` wants, which should take `limit` together.
///
/// # Errors
///
/// A replicate cannot be run at all.
pub fn replicates(
    racer: &mut dyn Racer,
    subject: Subject,
    contenders: &[Contender],
    test: &mut SequentialTest,
    most: u32,
    limit: Duration,
) -> Result<(), RaceFailed> {
    let begin = racer.now();
    let part = limit / most.max(1);
    loop {
        racer.race(subject, contenders, test, part)?;
        // Verification takes time beyond the limit of the rounds.
        let late = racer.now() - begin > limit.mul_f64(LATE);
        if late || racer.interrupted() || test.replicates() >= most || !test.next_replicate() {
            return Ok(());
        }
    }
}

/// No further replicate begins after this multiple of the planned time, which includes the time of checks.
const LATE: f64 = 3.0;

/// Runs races, on the hardware or on a model of it.
pub trait Racer {
    /// Runs a replicate: makes teams of those `contenders` that are still in the race and verifies them, then times
    /// rounds of batches and gives each to `test` until the replicate is over, `limit` has passed, or an interrupt
    /// comes. A contender with wrong results [fails](SequentialTest::fail).
    ///
    /// # Errors
    ///
    /// The race cannot be run at all.
    fn race(
        &mut self,
        subject: Subject,
        contenders: &[Contender],
        test: &mut SequentialTest,
        limit: Duration,
    ) -> Result<(), RaceFailed>;

    /// Time since the tuning began.
    fn now(&self) -> Duration;

    /// Whether the user wants the tuning to end.
    fn interrupted(&self) -> bool {
        false
    }

    /// The largest size (bytes of a block) at which `operation` fits memory.
    fn bytes_max(&self, operation: Collective) -> usize {
        let _ = operation;
        usize::MAX
    }
}
