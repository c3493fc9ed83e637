//! The machine of several hosts that a machine file describes.

use super::machine::{ClusterMachine, HostParts, NetworkRules};
use crate::machine::SimMachineError;
use corecast_model::{CostModel, MachineFile};
use std::collections::BTreeMap;

/// What a host takes that machine files do not have: that of a Xeon of 2010, by which the five clusters of NUMA clusters are
/// simulated.
const HOST: HostParts = HostParts {
    near_ns: 0.0,
    far_ns: 0.0,
    call_ns: 20.0,
    copy_byte_ns: 0.4,
    memory_byte_ns: 1.0 / 8.5,
    port_byte_ns: 1.0 / 11.0,
    combine_byte_ns: 0.25,
    turn_bytes: 32 << 10,
};

/// Longer messages are lent; a library that asks first for messages of another length has it in its measurement.
const RULES: NetworkRules = NetworkRules {
    message_bytes: 8 << 10,
    turn_bytes: 256 << 10,
    remote_access: true,
};

impl ClusterMachine {
    /// The hosts of a machine file, and the core of each of its threads, in order.
    ///
    /// The network is the file's, and its messages are sent at once up to the size from where the library asks first, if that
    /// was measured. Messages inside of a host take what the file says on average, in a NUMA node and between two. Copies
    /// take what they do on a Xeon of 2010, since no machine file has that.
    ///
    /// # Errors
    ///
    /// The file has one host only, or hosts that are not equal.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_sim::cluster::ClusterMachine;
    ///
    /// let file = corecast_model::synthetic("cluster:3 package:2 core:4 L=1000 cards=1").unwrap();
    /// let (machine, cores) = ClusterMachine::of_file(&file)?;
    /// assert_eq!((machine.hosts, machine.regions, machine.cores), (3, 2, 4));
    /// assert_eq!((machine.network.latency_ns, &machine.cards[..]), (1000.0, &[1][..]));
    /// assert_eq!(cores, (0..24).collect::<Vec<_>>());
    /// # Ok::<(), corecast_sim::machine::SimMachineError>(())
    /// ```
    pub fn of_file(file: &MachineFile) -> Result<(Self, Vec<usize>), SimMachineError> {
        let fail = |why: &str| SimMachineError {
            name: file.machine().name.clone(),
            why: why.to_owned(),
        };
        let costs = file.costs();
        let (Some(cluster), Some(of)) = (file.cluster(), costs.hosts()) else {
            return Err(fail("it is one host, with no network"));
        };
        // The places of threads by host and NUMA node, both in order.
        let mut regions: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
        let nodes = of.iter().zip(costs.numa_nodes());
        for (at, (&host, &node)) in nodes.enumerate() {
            regions.entry((host, node)).or_default().push(at);
        }
        let hosts = cluster.hosts.len();
        let of_host = |host: usize| regions.range((host as u32, 0)..(host as u32 + 1, 0));
        let (count, cores) = (
            of_host(0).count(),
            of_host(0).next().map_or(0, |one| one.1.len()),
        );
        let cards = |host: usize| -> Vec<usize> {
            let all = of_host(host).enumerate();
            all.filter(|(_, ((_, node), _))| cluster.hosts[host].cards.contains(node))
                .map(|(at, _)| at)
                .collect()
        };
        let is_equal = |host: usize| {
            of_host(host).count() == count
                && of_host(host).all(|(_, all)| all.len() == cores)
                && cards(host) == cards(0)
        };
        if !(0..hosts).all(is_equal) {
            return Err(fail(
                "its hosts are not equal, and only such are simulated: NUMA nodes of one size, cards in the same ones",
            ));
        }
        let mut places = vec![0; costs.n()];
        for (core, &at) in regions.values().flatten().enumerate() {
            places[at] = core;
        }
        let (near_ns, far_ns) = lines(costs, of);
        let asks = cluster
            .measured
            .as_ref()
            .and_then(|all| all.rendezvous_bytes);
        let machine = Self {
            name: file.machine().name.clone(),
            hosts,
            regions: count,
            cores,
            cards: cards(0),
            network: cluster.network,
            rules: NetworkRules {
                message_bytes: asks.unwrap_or(RULES.message_bytes).max(1),
                ..RULES
            },
            parts: HostParts {
                near_ns,
                far_ns,
                ..HOST
            },
        };
        machine.check()?;
        Ok((machine, places))
    }
}

/// The mean time of a message inside of a NUMA node and between two of one host; where there are no such pairs, that of the
/// others.
fn lines(costs: &CostModel, of: &[u32]) -> (f64, f64) {
    let (mut sums, mut counts) = ([0.0; 2], [0.0; 2]);
    // All hosts are equal in shape, and the first one stands for them.
    let first: Vec<usize> = (0..costs.n()).filter(|&at| of[at] == of[0]).collect();
    for &a in &first {
        for &b in first.iter().filter(|&&b| b != a) {
            let far = usize::from(!costs.same_numa_node(a, b));
            sums[far] += costs.send(a, b) + costs.receive(a, b);
            counts[far] += 1.0;
        }
    }
    let mean = |level: usize| (counts[level] > 0.0).then(|| sums[level] / counts[level]);
    let near = mean(0).or(mean(1)).unwrap_or(0.0);
    (near, mean(1).unwrap_or(near))
}
