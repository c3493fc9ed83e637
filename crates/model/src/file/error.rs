//! Errors of machine files.

use crate::cluster::ClusterError;
use crate::machine::MachineError;
use crate::pairwise::CostError;

/// Why a machine file was refused. Every message is one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The text is no JSON, or has not the expected shape.
    #[error("not a machine file: {reason}")]
    Json {
        /// The message of the JSON reader, with line and column.
        reason: String,
    },
    /// The file has a version that this program does not know.
    #[error("schema {found} is unknown: this version of Corecast reads schema 1")]
    Schema {
        /// The value found.
        found: String,
    },
    /// The unit is not known.
    #[error("unit {found:?} is unknown: use \"cycles\" or \"ns\"")]
    Unit {
        /// The value found.
        found: String,
    },
    /// A measured thread is not on the machine.
    #[error(
        "\"threads\" lists hardware thread {os_index}, which machine {machine:?} does not have"
    )]
    UnknownThread {
        /// The thread's operating-system number.
        os_index: u32,
        /// The machine's name.
        machine: String,
    },
    /// A measured thread is listed twice.
    #[error("\"threads\" lists hardware thread {os_index} twice")]
    RepeatedThread {
        /// The thread's operating-system number.
        os_index: u32,
    },
    /// Two NUMA nodes claim one thread.
    #[error(
        "thread {thread} is in NUMA nodes {first} and {second}: list it in one of \"numa_nodes\""
    )]
    TwoNodes {
        /// The thread.
        thread: u64,
        /// The node that lists it first.
        first: usize,
        /// The node that lists it again (equal to `first` when one node lists it twice).
        second: usize,
    },
    /// No NUMA node claims a thread.
    #[error("thread {thread} is in no NUMA node: list it in one of \"numa_nodes\"")]
    NoNode {
        /// The thread.
        thread: usize,
    },
    /// A NUMA node lists a thread without costs.
    #[error("NUMA node {node} lists thread {thread}, but \"send\" has rows 0 to {last} only")]
    ThreadOutOfRange {
        /// The node.
        node: usize,
        /// The thread.
        thread: u64,
        /// The last thread with costs.
        last: usize,
    },
    /// The section `deep` has a version that this program does not know.
    #[error("schema {found} of \"deep\" is unknown: this version of Corecast reads schema 1")]
    DeepSchema {
        /// The value found.
        found: String,
    },
    /// The section `deep` cannot be used.
    #[error("\"deep\" cannot be used: {reason}")]
    Deep {
        /// The reason, with the value found.
        reason: String,
    },
    /// The hosts of the file, or their network, are not valid.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The machine in the file is not valid.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The costs in the file are not valid.
    #[error(transparent)]
    Costs(#[from] CostError),
}

impl From<serde_json::Error> for FileError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json {
            reason: error.to_string().replace('\n', " "),
        }
    }
}
