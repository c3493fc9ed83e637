//! Hosts that a network joins: the level above packages, for machines that are lists of machines.
//!
//! ```json
//! "cluster": { "schema": 1,
//!              "hosts": [ { "name": "a", "packages": 2, "cards": [0] },
//!                         { "name": "b", "packages": 2, "cards": [2] } ],
//!              "network": { "latency_ns": 1500, "overhead_ns": 500, "gap_ns": 0, "byte_ns": 0.1 } }
//! ```
//!
//! The packages of the first host come first in the table of hardware threads, those of the second one next. A card is
//! given by the number of the NUMA node that owns it, counted over the whole machine. `corecast probe` under `mpirun` adds
//! what it has measured as `measured`, see [`NetworkMeasurement`].

mod compose;
mod measured;

pub use measured::{Interval, MessageTimes, NetworkMeasurement};

use serde::{Deserialize, Serialize};

use crate::machine::Machine;

/// The version of the section `cluster` of a machine file.
pub const SCHEMA: u64 = 1;

/// The costs of a message between two hosts in the LogGP model (Alexandrov and others, SPAA 1995), in nanoseconds.
///
/// A message of k bytes keeps its sender busy for o. It occupies the sender's card for g + (k − 1) G, its last byte is
/// at the other card L + (k − 1) G after the first one has left, and its receiver is busy for o.
///
/// # Examples
///
/// ```
/// use corecast_model::cluster::Network;
///
/// let network = Network { latency_ns: 1500.0, overhead_ns: 500.0, gap_ns: 0.0, byte_ns: 1.0 };
/// assert_eq!(network.message_ns(256), 2755.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// L, from one card to the other.
    pub latency_ns: f64,
    /// o, the time of the sender's and of the receiver's processor.
    pub overhead_ns: f64,
    /// g, the time of a card for a message, beside its bytes.
    pub gap_ns: f64,
    /// G, the time of a card for each further byte.
    pub byte_ns: f64,
}

impl Network {
    /// What is assumed where nothing is given: L 1.5 µs, o 0.5 µs, and 10 bytes in a nanosecond.
    pub const ASSUMED: Self = Self {
        latency_ns: 1500.0,
        overhead_ns: 500.0,
        gap_ns: 0.0,
        byte_ns: 0.1,
    };

    /// The time of one message of `bytes`, from its sender to the end of its receiver's work.
    #[must_use]
    pub fn message_ns(&self, bytes: usize) -> f64 {
        2.0 * self.overhead_ns + self.latency_ns + self.bytes_ns(bytes)
    }

    /// The time between the first and the last byte of a message.
    #[must_use]
    pub fn bytes_ns(&self, bytes: usize) -> f64 {
        bytes.saturating_sub(1) as f64 * self.byte_ns
    }

    /// For how long a message of `bytes` keeps its sender from the next one, by its processor or its card.
    #[must_use]
    pub fn send_ns(&self, bytes: usize) -> f64 {
        self.overhead_ns.max(self.gap_ns + self.bytes_ns(bytes))
    }

    /// n½, the bytes at which a message takes twice as long as one without data (Hockney's model). At most 1 GiB.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_model::cluster::Network;
    ///
    /// assert_eq!(Network::ASSUMED.half_bytes(), 25_000);
    /// ```
    #[must_use]
    pub fn half_bytes(&self) -> usize {
        let empty = 2.0 * self.overhead_ns + self.latency_ns;
        // Both may be 0.
        let half = (empty / self.byte_ns).clamp(0.0, (1 << 30) as f64);
        half as usize
    }

    /// Checks that each cost is one.
    ///
    /// # Errors
    ///
    /// The cost that is no number from 0 to 1e9.
    pub fn check(&self) -> Result<(), ClusterError> {
        let all = [
            ("latency_ns", self.latency_ns),
            ("overhead_ns", self.overhead_ns),
            ("gap_ns", self.gap_ns),
            ("byte_ns", self.byte_ns),
        ];
        match all
            .into_iter()
            .find(|(_, cost)| !(0.0..=1e9).contains(cost))
        {
            Some((what, value)) => Err(ClusterError::Cost { what, value }),
            None => Ok(()),
        }
    }
}

/// One host of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// How many packages it has.
    pub packages: u32,
    /// The NUMA nodes that own its network cards, by their numbers in the whole machine.
    pub cards: Vec<u32>,
}

/// The hosts of a machine list and the network between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    schema: u64,
    /// The hosts, in the order of their packages.
    pub hosts: Vec<Host>,
    /// The costs of messages between hosts.
    pub network: Network,
    /// The measurement that these costs are from; `None` where they were given or assumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<NetworkMeasurement>,
}

/// Why hosts make no cluster.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The section has a version that this program does not know.
    #[error("schema {found} of \"cluster\" is unknown: this version of Corecast reads schema 1")]
    Schema {
        /// The value found.
        found: u64,
    },
    /// A cost of the network is none.
    #[error("network.{what} is {value}: costs are numbers from 0 to 1e9")]
    Cost {
        /// The name of the cost.
        what: &'static str,
        /// The value as it was given.
        value: f64,
    },
    /// The hosts have another number of packages than the machine.
    #[error("the hosts have {found} packages, and the machine has {expected}: list each once")]
    Packages {
        /// Packages of all hosts.
        found: u64,
        /// Packages of the machine.
        expected: usize,
    },
    /// A NUMA node reaches over two hosts.
    #[error("NUMA node {node} is on hosts {first:?} and {second:?}: a node is on one host")]
    Node {
        /// The node.
        node: u32,
        /// The name of one host.
        first: String,
        /// The name of the other one.
        second: String,
    },
    /// A host has no card, or one in a NUMA node that it does not have.
    #[error("host {host:?} has cards in NUMA nodes {cards:?}: list one or more nodes of this host")]
    Cards {
        /// The name of the host.
        host: String,
        /// Its cards.
        cards: Vec<u32>,
    },
    /// Two hosts have one name.
    #[error("host {name:?} is listed twice: each name once")]
    Name {
        /// The name.
        name: String,
    },
    /// The costs of a host are in cycles, and those of the network in nanoseconds.
    #[error("the costs of host {name:?} are in cycles: give those of a cluster's hosts in ns")]
    Unit {
        /// The name of the host.
        name: String,
    },
    /// There is no host, or more threads than a machine may have.
    #[error("a cluster of {hosts} hosts has {threads} hardware threads: 1 to 4096 are possible")]
    Size {
        /// Number of hosts.
        hosts: usize,
        /// Number of hardware threads.
        threads: u64,
    },
}

impl Cluster {
    /// Hosts and their network.
    #[must_use]
    pub fn new(hosts: Vec<Host>, network: Network) -> Self {
        Self {
            schema: SCHEMA,
            hosts,
            network,
            measured: None,
        }
    }

    /// The host of each package, by its number in the list.
    fn of_packages(&self) -> Vec<u32> {
        let hosts = self.hosts.iter().enumerate();
        hosts
            .flat_map(|(at, host)| std::iter::repeat_n(at as u32, host.packages as usize))
            .collect()
    }

    /// The host of each of the machine's hardware threads, in the order of the table, and whether its NUMA node owns
    /// a card.
    pub(crate) fn places(&self, machine: &Machine) -> Vec<(u32, bool)> {
        let of = self.of_packages();
        let place = |pu: &crate::machine::Pu| {
            let host = of[pu.package as usize];
            (
                host,
                self.hosts[host as usize].cards.contains(&pu.numa_node),
            )
        };
        machine.pus.iter().map(place).collect()
    }

    /// Checks that the hosts are those of `machine`.
    ///
    /// # Errors
    ///
    /// What does not fit.
    pub fn check(&self, machine: &Machine) -> Result<(), ClusterError> {
        if self.schema != SCHEMA {
            return Err(ClusterError::Schema { found: self.schema });
        }
        self.network.check()?;
        let wrong = self.measured.as_ref().and_then(NetworkMeasurement::wrong);
        if let Some((what, value)) = wrong {
            return Err(ClusterError::Cost { what, value });
        }
        let mut names = std::collections::BTreeSet::new();
        for host in &self.hosts {
            if !names.insert(&host.name) {
                return Err(ClusterError::Name {
                    name: host.name.clone(),
                });
            }
        }
        let found = self.hosts.iter().map(|host| u64::from(host.packages)).sum();
        let last = machine.pus.iter().map(|pu| pu.package).max();
        let expected = last.map_or(0, |last| last as usize + 1);
        if found != expected as u64 {
            return Err(ClusterError::Packages { found, expected });
        }
        let of = self.of_packages();
        let mut on = std::collections::BTreeMap::new();
        for pu in &machine.pus {
            let host = of[pu.package as usize];
            let first = *on.entry(pu.numa_node).or_insert(host);
            if first != host {
                return Err(ClusterError::Node {
                    node: pu.numa_node,
                    first: self.hosts[first as usize].name.clone(),
                    second: self.hosts[host as usize].name.clone(),
                });
            }
        }
        for (at, host) in self.hosts.iter().enumerate() {
            let own = |card: &u32| on.get(card) == Some(&(at as u32));
            if host.cards.is_empty() || !host.cards.iter().all(own) {
                return Err(ClusterError::Cards {
                    host: host.name.clone(),
                    cards: host.cards.clone(),
                });
            }
        }
        Ok(())
    }
}
