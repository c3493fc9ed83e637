//! The content of a machine file.

use serde::{Deserialize, Serialize};

use super::error::FileError;
use crate::cluster::Cluster;
use crate::deep::Deep;
use crate::lines::{LineCosts, Place};
use crate::machine::Machine;
use crate::messages::Messages;
use crate::pairwise::{CostError, CostModel, Matrix};

/// A machine, the threads that were measured, and their costs; valid by construction.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineFile {
    pub(super) machine: Machine,
    pub(super) threads: Vec<u32>,
    pub(super) costs: CostModel,
    pub(super) send_interval: Option<Matrix>,
    pub(super) receive_interval: Option<Matrix>,
    pub(super) measured: Option<Measured>,
    pub(super) messages: Option<Messages>,
    pub(super) deep: Option<Deep>,
    pub(super) cluster: Option<Cluster>,
}

/// When and how the costs of a machine file were measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Date and time, as the measuring program wrote it.
    pub when: String,
    /// Samples behind each pair.
    pub samples: u64,
    /// Name and version of the measuring program.
    pub tool: String,
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
            cluster: None,
        })
    }

    /// Makes the file of a machine all of whose hardware threads have costs, in the machine's
    /// order.
    ///
    /// # Errors
    ///
    /// Those of [`MachineFile::new`].
    pub fn of_whole(machine: Machine, costs: CostModel) -> Result<Self, FileError> {
        let threads = machine.pus.iter().map(|pu| pu.os_index).collect();
        Self::new(machine, threads, costs)
    }

    /// Adds the half width of each pair's confidence interval.
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

    /// Adds costs of shared lines, in the unit of the pairwise costs.
    ///
    /// # Errors
    ///
    /// A cost that [`LineCosts::check`] refuses.
    pub fn with_lines(mut self, lines: LineCosts) -> Result<Self, FileError> {
        let places = places_of(&self.machine, &self.threads);
        self.costs = self.costs.with_lines(lines, places)?;
        Ok(self)
    }

    /// Adds a note on how the costs were measured.
    #[must_use]
    pub fn with_measured(mut self, measured: Measured) -> Self {
        self.measured = Some(measured);
        self
    }

    /// Adds costs of messages that come alone, in the unit of the pairwise costs.
    ///
    /// # Errors
    ///
    /// A number that [`Messages::check`] refuses.
    pub fn with_messages(mut self, messages: Messages) -> Result<Self, FileError> {
        messages.check(self.costs.n())?;
        self.messages = Some(messages);
        Ok(self)
    }

    /// Sets the results of a measurement in depth, or removes them.
    ///
    /// # Errors
    ///
    /// A section that [`Deep::check`] refuses.
    pub fn with_deep(mut self, deep: impl Into<Option<Deep>>) -> Result<Self, FileError> {
        self.deep = deep.into();
        self.deep.as_ref().map_or(Ok(()), Deep::check)?;
        Ok(self)
    }

    /// Says which packages are on which host, and what messages between hosts cost. The costs of pairs stay.
    ///
    /// # Errors
    ///
    /// Hosts that are not those of the machine, or costs that [`Network::check`](crate::cluster::Network::check)
    /// refuses.
    pub fn with_cluster(mut self, cluster: Cluster) -> Result<Self, FileError> {
        cluster.check(&self.machine)?;
        let all = cluster.places(&self.machine);
        let pus = &self.machine.pus;
        let place = |&os_index: &u32| {
            let at = pus.binary_search_by_key(&os_index, |pu| pu.os_index);
            all[at.expect("each thread is on the machine")]
        };
        let places = self.threads.iter().map(place).collect();
        self.costs = self.costs.with_hosts(places);
        self.cluster = Some(cluster);
        Ok(self)
    }

    /// The hosts and their network, where the machine consists of several hosts.
    #[must_use]
    pub fn cluster(&self) -> Option<&Cluster> {
        self.cluster.as_ref()
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

    /// The results of a measurement in depth, where one was made.
    #[must_use]
    pub fn deep(&self) -> Option<&Deep> {
        self.deep.as_ref()
    }

    /// The position of a hardware thread among those with costs.
    #[must_use]
    pub fn position(&self, os_index: u32) -> Option<usize> {
        self.threads.iter().position(|&thread| thread == os_index)
    }
}

/// The NUMA node of each thread in the list.
pub(super) fn numa_of(machine: &Machine, threads: &[u32]) -> Result<Vec<u32>, FileError> {
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
