//! The machine of several hosts, from the machine of each.

use super::{Cluster, ClusterError, Host, Network};
use crate::file::{FileError, MachineFile};
use crate::machine::{Machine, Pu};
use crate::pairwise::{CostModel, Unit};
use crate::synthetic::THREADS_MAX;

/// Bytes of a message for which pairwise costs are: one line.
const LINE_BYTES: usize = 64;

/// Numbers by which those of a host are raised in the machine of all hosts.
#[derive(Clone, Copy, Default)]
struct Offset {
    os_index: u32,
    package: u32,
    numa_node: u32,
    core: u32,
}

impl Offset {
    fn raise(self, pu: &Pu) -> Pu {
        Pu {
            os_index: self.os_index + pu.os_index,
            package: self.package + pu.package,
            numa_node: self.numa_node + pu.numa_node,
            numa_os_index: self.numa_node + pu.numa_node,
            core: self.core + pu.core,
        }
    }

    /// The numbers behind those of `machine`.
    fn behind(self, machine: &Machine) -> Self {
        let last = |number: fn(&Pu) -> u32| machine.pus.iter().map(number).max().unwrap_or(0) + 1;
        Self {
            os_index: self.os_index + last(|pu| pu.os_index),
            package: self.package + last(|pu| pu.package),
            numa_node: self.numa_node + last(|pu| pu.numa_node),
            core: self.core + last(|pu| pu.core),
        }
    }
}

impl MachineFile {
    /// The machine that consists of `hosts`, each with a name, its machine, and the NUMA nodes that own its cards, by
    /// their numbers in it.
    ///
    /// Inside of a host messages cost what its file says. Between hosts a message of one line keeps its sender busy for
    /// [`Network::send_ns`], and its receiver for the rest of [`Network::message_ns`], if there is any. Hardware threads, packages, NUMA
    /// nodes and cores of a host are numbered behind those of the hosts before it. Costs of shared lines, and what was
    /// measured besides, are not taken over: no line is shared between hosts.
    ///
    /// # Errors
    ///
    /// [`ClusterError`] in a [`FileError::Cluster`].
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_model::{MachineFile, cluster::Network, synthetic};
    ///
    /// let host = synthetic("package:2 core:2").unwrap();
    /// let hosts = ["a", "b"].map(|name| (name.to_owned(), host.clone(), vec![1]));
    /// let both = MachineFile::of_hosts("a b", hosts.into(), Network::ASSUMED)?;
    /// assert_eq!(both.costs().n(), 8);
    /// assert_eq!(both.costs().send(0, 4), 500.0);
    /// assert_eq!(both.costs().hosts(), Some(&[0, 0, 0, 0, 1, 1, 1, 1][..]));
    /// assert!(both.costs().has_card(6) && !both.costs().has_card(4));
    /// # Ok::<(), corecast_model::FileError>(())
    /// ```
    pub fn of_hosts(
        name: &str,
        hosts: Vec<(String, MachineFile, Vec<u32>)>,
        network: Network,
    ) -> Result<Self, FileError> {
        let threads = hosts
            .iter()
            .map(|(_, file, _)| file.threads().len() as u64)
            .sum();
        let count = hosts.len();
        if count == 0 || threads > THREADS_MAX {
            return Err(ClusterError::Size {
                hosts: count,
                threads,
            }
            .into());
        }
        network.check()?;
        let (mut pus, mut threads, mut listed) = (Vec::new(), Vec::new(), Vec::new());
        // The host of each thread with costs, and its position there.
        let mut at = Vec::new();
        let mut offset = Offset::default();
        let mut assumptions = Vec::new();
        for (number, (name, file, cards)) in hosts.iter().enumerate() {
            if file.costs().unit() != Unit::Nanoseconds {
                return Err(ClusterError::Unit { name: name.clone() }.into());
            }
            let machine = file.machine();
            pus.extend(machine.pus.iter().map(|pu| offset.raise(pu)));
            threads.extend(
                file.threads()
                    .iter()
                    .map(|&thread| offset.os_index + thread),
            );
            at.extend((0..file.threads().len()).map(|position| (number, position)));
            let next = offset.behind(machine);
            listed.push(Host {
                name: name.clone(),
                packages: next.package - offset.package,
                cards: cards.iter().map(|card| offset.numa_node + card).collect(),
            });
            for one in &machine.assumptions {
                if !assumptions.contains(one) {
                    assumptions.push(one.clone());
                }
            }
            offset = next;
        }
        let machine = Machine {
            name: name.to_owned(),
            cpu: None,
            pus,
            caches: Vec::new(),
            assumptions,
        };
        let (far, there) = (network.send_ns(LINE_BYTES), network.message_ns(LINE_BYTES));
        let cost = |inside: fn(&CostModel, usize, usize) -> f64, between: f64| {
            let (at, hosts) = (&at, &hosts);
            move |i: usize, j: usize| {
                let ((a, from), (b, to)) = (at[i], at[j]);
                match a == b {
                    true => inside(hosts[a].1.costs(), from, to),
                    false => between,
                }
            }
        };
        let send = cost(CostModel::send, far);
        let receive = cost(CostModel::receive, (there - far).max(0.0));
        let costs = CostModel::from_fn(Unit::Nanoseconds, vec![0; at.len()], send, receive)?;
        let file = Self::new(machine, threads, costs)?;
        file.with_cluster(Cluster::new(listed, network))
    }
}
