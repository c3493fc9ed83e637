//! Why a race cannot be had.

use corecast_bench::RaceError;
use corecast_bench::sized::{ChoiceError, Task};
use corecast_collectives::PlansError;
use corecast_model::CostError;
use corecast_plan::PlanError;
use corecast_plan::members::MembersError;
use corecast_team::TeamError;
use corecast_wire::SegmentError;
use thiserror::Error;

use crate::forecast::ForecastError;
use crate::measure::MeasureError;

/// What is wrong with a race.
#[derive(Debug, Error)]
pub enum ContestError {
    /// A team cannot be made.
    #[error("team")]
    Team(#[source] TeamError),
    /// Costs of ranks that share hardware threads make no model.
    #[error("team")]
    Costs(#[source] CostError),
    /// Threads that make no team.
    #[error(transparent)]
    Members(#[from] MembersError),
    /// A pattern that cannot do the operation.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Plans that do not belong together.
    #[error(transparent)]
    Plans(#[from] PlansError),
    /// The race itself.
    #[error(transparent)]
    Race(#[from] RaceError),
    /// Starts that could not be compared.
    #[error(transparent)]
    Start(#[from] ChoiceError),
    /// Memory for queues.
    #[error(transparent)]
    Memory(#[from] SegmentError),
    /// Measuring the machine beside the race.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// What models say of it.
    #[error(transparent)]
    Forecast(#[from] ForecastError),
    /// A hardware thread outside of this process's mask.
    #[error(
        "PU {0} may not be used by this process: choose others by --threads, or race --unpinned"
    )]
    NotAllowed(u32),
    /// Rounds carry no data.
    #[error("pattern {0:?} has rounds of notifications, an allreduce needs a tree")]
    NoTree(String),
    /// None of the patterns can do it.
    #[error("no pattern to race an allreduce by")]
    NoPattern,
    /// There is nothing to race.
    #[error("no plan")]
    NoPlan,
    /// A message is raced between pinned ranks.
    #[error("--op message: both ranks are pinned: leave --pinning out")]
    MessageUnpinned,
    /// Both ranks of a message on one hardware thread.
    #[error(
        "--op message: two ranks on PU {0} take turns there and send no lines: choose --threads"
    )]
    MessageOnOne(u32),
    /// Data that do not fit into memory.
    #[error(
        "--size {}: {} of {} ranks needs about {need_mib} MiB and {there_mib} MiB are available: \
         choose a smaller size or fewer --ranks",
        task.bytes, task.operation, task.ranks
    )]
    TooLarge {
        /// What was to be raced.
        task: Task,
        /// What it needs.
        need_mib: usize,
        /// What there is.
        there_mib: usize,
    },
}
