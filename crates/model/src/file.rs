//! The machine file: one machine and what its messages cost, as versioned JSON.
//!
//! ```json
//! { "schema": 1,
//!   "machine": { "name": "…", "pus": [ { "os_index": 0, "package": 0, … } ] },
//!   "threads": [0, 1],
//!   "unit": "ns",
//!   "send": [[0, 60], [55, 0]],
//!   "receive": [[0, 220], [210, 0]] }
//! ```
//!
//! `threads` are the operating-system numbers of the measured threads; row and column r of each
//! matrix belong to entry r of it. Optional: `send_interval` and `receive_interval`, the half width
//! of each pair's confidence interval; `measured`, how the numbers came about; and `lines`, what a
//! line costs that several threads share, by class of proximity (see [`crate::lines`]):
//!
//! ```json
//! "lines": { "write": 70, "invalidate": [0, 0, 0, 0], "transfer": [2.3, 35, 35, 94],
//!            "base": [2.3, 35, 35, 94], "slope": [0, 0, 0, 0] }
//! ```
//!
//! And `messages`, what messages cost that come alone, and calls: see [`crate::messages`]; and `deep`, what a
//! measurement in depth found: see [`crate::deep`].
//!
//! A file without `schema` is read as the format of Smelt's public machine database, see
//! [`database`].

pub mod database;
mod raw;

use serde::{Deserialize, Serialize};

use crate::deep::Deep;
use crate::lines::{LineCosts, Place};
use crate::machine::{Machine, MachineError};
use crate::messages::Messages;
use crate::pairwise::{CostError, CostModel, Matrix};

/// The version of the format that [`MachineFile::to_json`] writes.
pub const SCHEMA: u64 = 1;

/// A machine, the threads that were measured, and their costs; valid by construction.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineFile {
    machine: Machine,
    threads: Vec<u32>,
    costs: CostModel,
    send_interval: Option<Matrix>,
    receive_interval: Option<Matrix>,
    measured: Option<Measured>,
    messages: Option<Messages>,
    deep: Option<Deep>,
}

/// How the costs of a machine file came about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Date and time, as the measuring program wrote it.
    pub when: String,
    /// Samples behind each pair.
    pub samples: u64,
    /// Name and version of the measuring program.
    pub tool: String,
}

/// Why a machine file was refused. Every message is one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// No JSON, or not of the expected shape.
    #[error("not a machine file: {reason}")]
    Json {
        /// What the JSON reader says, with line and column.
        reason: String,
    },
    /// A version that this program does not know.
    #[error("schema {found} is unknown: this version of Corecast reads schema 1")]
    Schema {
        /// The value found.
        found: String,
    },
    /// A unit that is not known.
    #[error("unit {found:?} is unknown: use \"cycles\" or \"ns\"")]
    Unit {
        /// The value found.
        found: String,
    },
    /// A measured thread that the machine does not have.
    #[error(
        "\"threads\" lists hardware thread {os_index}, which machine {machine:?} does not have"
    )]
    UnknownThread {
        /// The thread's operating-system number.
        os_index: u32,
        /// The machine's name.
        machine: String,
    },
    /// A measured thread listed twice.
    #[error("\"threads\" lists hardware thread {os_index} twice")]
    RepeatedThread {
        /// The thread's operating-system number.
        os_index: u32,
    },
    /// A thread that two NUMA nodes claim.
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
    /// A thread that no NUMA node claims.
    #[error("thread {thread} is in no NUMA node: list it in one of \"numa_nodes\"")]
    NoNode {
        /// The thread.
        thread: usize,
    },
    /// A NUMA node that lists a thread without costs.
    #[error("NUMA node {node} lists thread {thread}, but \"send\" has rows 0 to {last} only")]
    ThreadOutOfRange {
        /// The node.
        node: usize,
        /// The thread.
        thread: u64,
        /// The last thread with costs.
        last: usize,
    },
    /// A version of the section `deep` that this program does not know.
    #[error("schema {found} of \"deep\" is unknown: this version of Corecast reads schema 1")]
    DeepSchema {
        /// The value found.
        found: String,
    },
    /// A section `deep` that cannot be used.
    #[error("\"deep\" cannot be used: {reason}")]
    Deep {
        /// What is wrong, with the value found.
        reason: String,
    },
    /// The hardware table was refused.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The costs were refused.
    #[error(transparent)]
    Costs(#[from] CostError),
}

impl MachineFile {
    /// A machine and the costs of some of its hardware threads.
    ///
    /// `threads[r]` is the operating-system number of the thread of row r. The NUMA nodes of the
    /// cost model, and the places of its line costs, are replaced by the machine's, so that both
    /// always agree.
    ///
    /// # Errors
    ///
    /// An invalid machine; a thread unknown or repeated; a list whose length is not the model's.
    pub fn new(machine: Machine, threads: Vec<u32>, costs: CostModel) -> Result<Self, FileError> {
        machine.validate()?;
        if threads.len() != costs.n() {
            let (found, expected) = (threads.len(), costs.n());
            return Err(CostError::Length {
                what: "threads",
                found,
                expected,
            }
            .into());
        }
        let numa = numa_of(&machine, &threads)?;
        let mut costs = costs.with_numa(numa);
        if let Some(lines) = costs.lines().map(|lines| *lines.costs()) {
            costs = costs.with_lines(lines, places_of(&machine, &threads))?;
        }
        Ok(Self {
            machine,
            threads,
            costs,
            send_interval: None,
            receive_interval: None,
            measured: None,
            messages: None,
            deep: None,
        })
    }

    /// A machine all of whose hardware threads have costs, in the machine's order.
    ///
    /// # Errors
    ///
    /// As [`MachineFile::new`].
    pub fn of_whole(machine: Machine, costs: CostModel) -> Result<Self, FileError> {
        let threads = machine.pus.iter().map(|pu| pu.os_index).collect();
        Self::new(machine, threads, costs)
    }

    /// The same with the half width of each pair's confidence interval.
    ///
    /// # Errors
    ///
    /// A matrix of the wrong shape or with values that no cost may have.
    pub fn with_intervals(
        mut self,
        send: Vec<Vec<f64>>,
        receive: Vec<Vec<f64>>,
    ) -> Result<Self, FileError> {
        let n = self.costs.n();
        self.send_interval = Some(Matrix::checked("send_interval", send, n)?);
        self.receive_interval = Some(Matrix::checked("receive_interval", receive, n)?);
        Ok(self)
    }

    /// The same with costs of shared lines, in the unit of the pairwise costs.
    ///
    /// # Errors
    ///
    /// A cost that [`LineCosts::check`] refuses.
    pub fn with_lines(mut self, lines: LineCosts) -> Result<Self, FileError> {
        let places = places_of(&self.machine, &self.threads);
        self.costs = self.costs.with_lines(lines, places)?;
        Ok(self)
    }

    /// The same with a note on how the costs were measured.
    #[must_use]
    pub fn with_measured(mut self, measured: Measured) -> Self {
        self.measured = Some(measured);
        self
    }

    /// The same with costs of messages that come alone, in the unit of the pairwise costs.
    ///
    /// # Errors
    ///
    /// What [`Messages::check`] refuses.
    pub fn with_messages(mut self, messages: Messages) -> Result<Self, FileError> {
        messages.check(self.costs.n())?;
        self.messages = Some(messages);
        Ok(self)
    }

    /// The same with what a measurement in depth found, or without it.
    ///
    /// # Errors
    ///
    /// What [`Deep::check`] refuses.
    pub fn with_deep(mut self, deep: impl Into<Option<Deep>>) -> Result<Self, FileError> {
        self.deep = deep.into();
        self.deep.as_ref().map_or(Ok(()), Deep::check)?;
        Ok(self)
    }

    /// The hardware.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Operating-system numbers of the threads with costs; entry r is thread r of the cost model.
    #[must_use]
    pub fn threads(&self) -> &[u32] {
        &self.threads
    }

    /// The costs.
    #[must_use]
    pub fn costs(&self) -> &CostModel {
        &self.costs
    }

    /// Half widths of the send costs' confidence intervals, where known.
    #[must_use]
    pub fn send_interval(&self) -> Option<&Matrix> {
        self.send_interval.as_ref()
    }

    /// Half widths of the receive costs' confidence intervals, where known.
    #[must_use]
    pub fn receive_interval(&self) -> Option<&Matrix> {
        self.receive_interval.as_ref()
    }

    /// How the costs were measured, where known.
    #[must_use]
    pub fn measured(&self) -> Option<&Measured> {
        self.measured.as_ref()
    }

    /// Costs of messages that come alone, where they were measured.
    #[must_use]
    pub fn messages(&self) -> Option<&Messages> {
        self.messages.as_ref()
    }

    /// What a measurement in depth found, where one was made.
    #[must_use]
    pub fn deep(&self) -> Option<&Deep> {
        self.deep.as_ref()
    }

    /// The position of a hardware thread among those with costs.
    #[must_use]
    pub fn position(&self, os_index: u32) -> Option<usize> {
        self.threads.iter().position(|&thread| thread == os_index)
    }

    /// Reads Corecast's own format, or that of Smelt's machine database when there is no `schema`.
    ///
    /// # Errors
    ///
    /// Text that is no JSON or cut short; an unknown schema or unit; a matrix that is ragged, or
    /// has a missing (`null`), negative or non-numeric entry; a thread unknown, repeated, in two
    /// NUMA nodes or in none.
    pub fn from_json(text: &str) -> Result<Self, FileError> {
        #[derive(Deserialize)]
        #[serde(expecting = "a machine as a JSON object")]
        struct Version {
            schema: Option<serde_json::Value>,
            // Looked at first: in another version all the rest may be different.
            deep: Option<DeepVersion>,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "a measurement in depth as a JSON object")]
        struct DeepVersion {
            schema: serde_json::Value,
        }
        let version: Version = serde_json::from_str(text)?;
        if let Some(DeepVersion { schema }) = version.deep
            && schema.as_u64() != Some(crate::deep::SCHEMA)
        {
            return Err(FileError::DeepSchema {
                found: schema.to_string(),
            });
        }
        match version.schema {
            None => database::read(text),
            Some(schema) if schema.as_u64() == Some(SCHEMA) => raw::read(text),
            Some(schema) => Err(FileError::Schema {
                found: schema.to_string(),
            }),
        }
    }

    /// Corecast's own format, one matrix row a line, so that two files can be compared by eye.
    ///
    /// Reading it back gives an equal value: numbers are written in full.
    #[must_use]
    pub fn to_json(&self) -> String {
        raw::write(self)
    }
}

impl From<serde_json::Error> for FileError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json {
            reason: error.to_string().replace('\n', " "),
        }
    }
}

/// The NUMA node of each thread in the list.
fn numa_of(machine: &Machine, threads: &[u32]) -> Result<Vec<u32>, FileError> {
    let mut seen = std::collections::HashSet::new();
    threads
        .iter()
        .map(|&os_index| {
            if !seen.insert(os_index) {
                return Err(FileError::RepeatedThread { os_index });
            }
            let pu = machine
                .pu(os_index)
                .ok_or_else(|| FileError::UnknownThread {
                    os_index,
                    machine: machine.name.clone(),
                })?;
            Ok(pu.numa_node)
        })
        .collect()
}

/// The place of each thread in the list, all of which the machine has.
fn places_of(machine: &Machine, threads: &[u32]) -> Vec<Place> {
    let known = threads.iter().filter_map(|&os_index| machine.pu(os_index));
    known.map(Place::from).collect()
}

#[cfg(test)]
mod tests;
