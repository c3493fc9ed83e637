//! Why a race cannot be run.

use corecast_bench::RaceError;
use corecast_bench::sized::{ChoiceError, Task};
use corecast_collectives::PlansError;
use corecast_model::CostError;
use corecast_plan::PlanError;
use corecast_plan::members::MembersError;
use corecast_team::TeamError;
use corecast_wire::SegmentError;
use thiserror::Error;

use crate::measure::MeasureError;

/// Why a race cannot be run.
#[derive(Debug, Error)]
pub enum ContestError {
    /// A team cannot be made.
    #[error("team")]
    Team(#[source] TeamError),
    /// Costs of ranks that share hardware threads make no model.
    #[error("team")]
    Costs(#[source] CostError),
    /// The threads make no team.
    #[error(transparent)]
    Members(#[from] MembersError),
    /// The pattern cannot do the operation.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The plans do not belong together.
    #[error(transparent)]
    Plans(#[from] PlansError),
    /// The race itself failed.
    #[error(transparent)]
    Race(#[from] RaceError),
    /// The ways to start an operation could not be compared.
    #[error(transparent)]
    Start(#[from] ChoiceError),
    /// Memory for queues could not be allocated.
    #[error(transparent)]
    Memory(#[from] SegmentError),
    /// The machine could not be measured beside the race.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A hardware thread is outside of this process's mask.
    #[error(
        "PU {0} may not be used by this process: choose others by --threads, or race --unpinned"
    )]
    NotAllowed(u32),
    /// The pattern has rounds of notifications, which carry no data, where an allreduce needs a tree.
    #[error("pattern {0:?} has rounds of notifications, an allreduce needs a tree")]
    NoTree(String),
    /// None of the patterns can do an allreduce.
    #[error("no pattern to race an allreduce by")]
    NoPattern,
    /// A message was to be raced between ranks that are not pinned.
    #[error("--op message: both ranks are pinned: leave --pinning out")]
    MessageUnpinned,
    /// Both ranks of a message are on one hardware thread.
    #[error(
        "--op message: two ranks on PU {0} take turns there and send no lines: choose --threads"
    )]
    MessageOnOne(u32),
    /// The data do not fit into memory.
    #[error(
        "--size {}: {} of {} ranks needs about {need_mib} MiB and {there_mib} MiB are available: \
         choose a smaller size or fewer --ranks",
        task.bytes, task.operation, task.ranks
    )]
    TooLarge {
        /// The operation, ranks and bytes that were to be raced.
        task: Task,
        /// Memory that the race needs, in MiB.
        need_mib: usize,
        /// Memory that is available, in MiB.
        there_mib: usize,
    },
}
