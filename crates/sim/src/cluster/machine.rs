//! The description of a machine of several equal hosts.

use crate::machine::SimMachineError;
use corecast_model::cluster::Network;

/// A machine of several equal hosts.
///
/// Core c is on host c / (regions · cores), and there in region c / cores.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterMachine {
    /// Its name.
    pub name: String,
    /// Number of hosts.
    pub hosts: usize,
    /// NUMA regions of a host.
    pub regions: usize,
    /// Cores of a region.
    pub cores: usize,
    /// The regions of a host that own its network cards; empty where there is one host.
    pub cards: Vec<usize>,
    /// The costs of messages between hosts.
    pub network: Network,
    /// How the network is used.
    pub rules: NetworkRules,
    /// The costs inside of a host.
    pub parts: HostParts,
}

/// How ranks use the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkRules {
    /// Bytes of the longest message that is sent at once; collectives lend what is longer.
    pub message_bytes: usize,
    /// Bytes that a card sends of one loan before it goes on with the next one that was asked for.
    pub turn_bytes: usize,
    /// Whether cards read memory by themselves (RDMA).
    pub remote_access: bool,
}

/// The costs inside of a host, in nanoseconds, and its sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostParts {
    /// The time of a line between two cores of a region.
    pub near_ns: f64,
    /// The time of a line between two cores of different regions.
    pub far_ns: f64,
    /// Core time of an operation, beside its bytes.
    pub call_ns: f64,
    /// Core time for each byte that it copies.
    pub copy_byte_ns: f64,
    /// Time of a region's memory for each byte of it that is lent and read.
    pub memory_byte_ns: f64,
    /// Time of a region's port for each byte that goes to another region.
    pub port_byte_ns: f64,
    /// Core time for each byte that it combines.
    pub combine_byte_ns: f64,
    /// Bytes that a core copies of one loan before others have their turn at the same memory.
    pub turn_bytes: usize,
}

impl ClusterMachine {
    /// The number of cores of all hosts.
    pub fn len(&self) -> usize {
        self.hosts * self.regions * self.cores
    }

    /// Whether there is no core.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The host of a core.
    pub fn host(&self, core: usize) -> usize {
        core / (self.regions * self.cores)
    }

    /// The region of a core, counted over all hosts.
    pub fn region(&self, core: usize) -> usize {
        core / self.cores
    }

    /// The card that a core uses, counted over all hosts: that of its region, or one of its host by its region.
    pub(super) fn card(&self, core: usize) -> usize {
        let region = self.region(core) % self.regions;
        let own = self.cards.iter().position(|&card| card == region);
        self.host(core) * self.cards.len() + own.unwrap_or(region % self.cards.len())
    }

    /// Checks that there are cores and cards, and that costs are costs.
    ///
    /// # Errors
    ///
    /// What is wrong, with the machine's name.
    pub fn check(&self) -> Result<(), SimMachineError> {
        let fail = |why: String| {
            let name = self.name.clone();
            Err(SimMachineError { name, why })
        };
        if self.is_empty() {
            return fail("it needs a host with a region with a core at least".into());
        }
        let cards = !self.cards.is_empty() || self.hosts == 1;
        if !cards || self.cards.iter().any(|&card| card >= self.regions) {
            return fail("each host needs a card, in a region that it has".into());
        }
        if let Err(error) = self.network.check() {
            return fail(error.to_string());
        }
        let parts = &self.parts;
        let costs = [
            parts.near_ns,
            parts.far_ns,
            parts.call_ns,
            parts.copy_byte_ns,
            parts.memory_byte_ns,
            parts.port_byte_ns,
            parts.combine_byte_ns,
        ];
        if !costs.into_iter().all(|cost| (0.0..1e9).contains(&cost)) {
            return fail("costs are at least 0 and below 1e9".into());
        }
        let sizes = [
            self.rules.message_bytes,
            self.rules.turn_bytes,
            parts.turn_bytes,
        ];
        match sizes.contains(&0) {
            true => fail("messages and turns have a byte at least".into()),
            false => Ok(()),
        }
    }
}
