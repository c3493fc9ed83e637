//! Where contenders run: the hardware, or whatever a test puts in its place.

use crate::sequential_test::SequentialTest;
use corecast_bench::sized::{Operation, Task};
use corecast_collectives::{Algorithms, Plans};
use corecast_wire::WaitConfig;
use std::sync::Arc;
use std::time::Duration;

/// Whether operations are kept apart.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Synchrony {
    /// All ranks begin at the same instant, after a barrier: what counts is when the last of them is done.
    #[default]
    Strict,
    /// Operations one after the other: what counts is how many are done in a time.
    Loose,
}

impl Synchrony {
    /// As on the command line and in profiles.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Loose => "loose",
        }
    }
}

/// What a race is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An operation at a size.
    Task(Task),
    /// A barrier and then a broadcast of one element: where ranks share cores it matters to the one in which
    /// order ranks come out of the other.
    BarrierThenBroadcast {
        /// Number of ranks.
        ranks: usize,
    },
}

impl Subject {
    /// The operation that it stands for.
    pub fn operation(&self) -> Operation {
        match self {
            Self::Task(task) => task.operation,
            Self::BarrierThenBroadcast { .. } => Operation::Barrier,
        }
    }

    /// Its bytes.
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

/// How a team is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// Over which plans.
    pub plans: Arc<Plans>,
    /// How members wait; `None`: as teams of this size do.
    pub wait_config: Option<WaitConfig>,
    /// By which algorithms.
    pub algorithms: Algorithms,
}

/// One who takes part in a race.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// Unique in its race.
    pub name: String,
    /// The team that it runs with.
    pub form: Form,
}

/// Why there was no race.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{subject} was not raced: {reason}")]
pub struct RaceFailed {
    /// What it was about.
    pub subject: String,
    /// What happened.
    pub reason: String,
}

/// Holds up to `most` replicates, as many as `test` wants, which should take `limit` together.
///
/// # Errors
///
/// As [`Racer::race`].
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
        // Checks take time too.
        let late = racer.now() - begin > limit.mul_f64(LATE);
        if late || racer.interrupted() || test.replicates() >= most || !test.next_replicate() {
            return Ok(());
        }
    }
}

/// How many times as long as planned replicates may take, their checks included, before no further one begins.
const LATE: f64 = 3.0;

/// Runs races.
pub trait Racer {
    /// Holds a replicate: makes teams of those `contenders` that are still in the race and verifies them, then runs rounds of
    /// batches and shows each to `test` until the replicate is over, or `limit` has passed, or somebody interrupts. Who is
    /// found wrong [fails](SequentialTest::fail).
    ///
    /// # Errors
    ///
    /// A race that cannot be held at all.
    fn race(
        &mut self,
        subject: Subject,
        contenders: &[Contender],
        test: &mut SequentialTest,
        limit: Duration,
    ) -> Result<(), RaceFailed>;

    /// Time since the tuning began.
    fn now(&self) -> Duration;

    /// Whether somebody wants it to end.
    fn interrupted(&self) -> bool {
        false
    }

    /// Largest size (bytes of a block) at which `operation` fits memory.
    fn bytes_max(&self, operation: Operation) -> usize {
        let _ = operation;
        usize::MAX
    }
}
