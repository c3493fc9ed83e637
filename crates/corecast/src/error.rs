//! Why a team cannot be built.

use corecast_collectives::preferences::TextError;
use corecast_collectives::{ByLengthError, PlansError};
use corecast_machine::{CpuList, CpuListError};
use corecast_model::CostError;
use corecast_plan::PlanError;
use corecast_process::EnterError;
use corecast_team::TeamError;
use corecast_wire::SegmentError;

use crate::waiting::WaitingError;

/// Why a team cannot be built. Every message is one line that quotes the input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The team has no ranks.
    #[error("a team has at least one rank: ask for threads(1) or more")]
    NoRanks,
    /// A list of PUs that cannot be read.
    #[error(transparent)]
    List(#[from] CpuListError),
    /// A PU that the machine does not have, or that is switched off.
    #[error("cores {list:?}: no PU {pu} runs on this machine, it has {online}")]
    UnknownPu {
        /// The list.
        list: String,
        /// The PU.
        pu: u32,
        /// The PUs that run.
        online: CpuList,
    },
    /// A PU listed twice.
    #[error("cores {list:?}: PU {pu} is listed twice; for more ranks than PUs use threads instead")]
    RepeatedPu {
        /// The list.
        list: String,
        /// The PU.
        pu: u32,
    },
    /// A PU that this process may not use.
    #[error("cores {list:?}: the {by} withholds PU {pu} from this process, which may use {usable}")]
    NotPermitted {
        /// The list.
        list: String,
        /// The PU.
        pu: u32,
        /// The mask or cpuset that withholds it.
        by: &'static str,
        /// The PUs that the process may use.
        usable: CpuList,
    },
    /// The given machine file lacks the costs of messages between this team's PUs.
    #[error(
        "the machine file of {machine:?} has costs for {known} threads, too few for a team of {ranks}, and none for PU {pu}: measure this machine or give none"
    )]
    NoCosts {
        /// The machine's name.
        machine: String,
        /// The number of threads that have costs.
        known: usize,
        /// The team's size.
        ranks: usize,
        /// A PU without costs.
        pu: u32,
    },
    /// A variable of the environment that cannot be read.
    #[error("{variable}={value:?}: {reason}")]
    Environment {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// What is wrong, and which values there are.
        reason: TextError,
    },
    /// [`CORECAST_TUNE`](crate::CORECAST_TUNE) cannot be read.
    #[error("CORECAST_TUNE={value:?}: say online for teams that learn while they run, or off")]
    Learning {
        /// Its value.
        value: String,
    },
    /// Program and environment together ask for more ranges of lengths than an operation can have.
    #[error("CORECAST_ALGO and the program together ask for too much of {operation}: {error}")]
    Ranges {
        /// The operation.
        operation: &'static str,
        /// What is wrong.
        error: ByLengthError,
    },
    /// The planner refused the pattern or the root.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The plans do not make a team.
    #[error(transparent)]
    Plans(#[from] PlansError),
    /// The costs are no valid cost model.
    #[error(transparent)]
    Costs(#[from] CostError),
    /// There is not enough memory to choose plans for so many ranks.
    #[error("a team of {ranks} ranks cannot be planned: {source}")]
    Room {
        /// The number of ranks.
        ranks: usize,
        /// How much memory is wanted, and how much is left.
        source: SegmentError,
    },
    /// The team's memory could not be made: no memory, an invalid number of slots, or too many
    /// ranks.
    #[error(transparent)]
    Team(#[from] TeamError),
    /// The team of processes has another size than the builder was asked for.
    #[error(
        "the builder was asked for {asked} ranks, the team of processes has {size}: leave threads out, or list a PU for each rank"
    )]
    Size {
        /// The number of ranks by `threads` or `cores`.
        asked: usize,
        /// The number of ranks of the team.
        size: usize,
    },
    /// `CORECAST_WAIT` names no way to wait.
    #[error("CORECAST_WAIT: {0}")]
    Wait(#[from] WaitingError),
    /// The processes did not become a team.
    #[error(transparent)]
    Enter(#[from] EnterError),
}
