//! The runs of Figs. 12 and 13 of Smelt.

use corecast_agree::paxos::Routes;
use corecast_plan::Pattern;
use corecast_plan::consensus::{AcceptorTrees, Roles};
use std::sync::Arc;

use super::cluster::{self, Client, Protocol, Setup};
use super::machines::{Costs, THREADS};

pub use super::cluster::Outcome;

/// How replicas are told what was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The acceptor tells one after another.
    Sequential,
    /// Over the tree of a pattern, with leader and acceptor where the model has them best.
    Tree(Pattern),
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// 1Paxos: load generators ask the leader (Fig. 12).
    Agreement,
    /// A plain broadcast by the member that would accept, which generators ask (Fig. 12).
    Broadcast,
}

/// The generators of Fig. 12.
pub const GENERATORS: usize = 4;

/// Requests of a generator that are under way: with fewer the slower ways are not busy all the time.
pub const UNDER_WAY: usize = 16;

/// Replicas of Fig. 12.
pub const REPLICAS: [usize; 6] = [8, 12, 16, 20, 24, 28];

/// Replicas of Fig. 13, one of each NUMA node.
pub const STORES: usize = 8;

/// The replicas of a run in the order of the members, and their trees.
struct Group {
    replicas: Vec<usize>,
    /// The place of each member among what was planned for.
    ranks: Vec<usize>,
    trees: AcceptorTrees,
    roles: Roles,
}

impl Group {
    /// Member 0 leads and 1 accepts, where the model has them best among these cores. `clients` are the cores whose requests the
    /// leader answers itself.
    fn new(machine: &Costs, cores: &[usize], clients: &[usize], way: Way) -> Self {
        let pattern = match way {
            Way::Sequential => Pattern::Sequential,
            Way::Tree(pattern) => pattern,
        };
        let pairs = &machine.pairs;
        let costs = pairs.subset(cores).expect("cores of the machine");
        let trees = AcceptorTrees::new(&costs, pattern).expect("a pattern of trees");
        let of_clients = |leader: usize| {
            let leader = cores[leader];
            let both = clients.iter();
            let both = both.map(|&it| pairs.receive(it, leader) + pairs.send(leader, it));
            both.sum::<f64>() / clients.len().max(1) as f64
        };
        let roles = trees.roles(of_clients);
        let first = [roles.leader, roles.acceptor];
        let others = (0..cores.len()).filter(|rank| !first.contains(rank));
        let ranks: Vec<usize> = first.into_iter().chain(others).collect();
        Self {
            replicas: ranks.iter().map(|&rank| cores[rank]).collect(),
            ranks,
            trees,
            roles,
        }
    }

    /// The children of each member.
    fn children(
        trees: &AcceptorTrees,
        ranks: &[usize],
        root: usize,
        absent: u64,
    ) -> Vec<Vec<usize>> {
        let gone = (0..ranks.len()).filter(|member| absent >> member & 1 == 1);
        let gone = gone.fold(0, |bits, member| bits | 1 << ranks[member]);
        let planned = trees.children(ranks[root], gone);
        let member = |rank: &usize| ranks.iter().position(|it| it == rank).expect("a member");
        let lists = ranks
            .iter()
            .map(|&rank| planned[rank].iter().map(member).collect());
        lists.collect()
    }

    /// What corecast-agree wants to know of a planner.
    fn routes(self, way: Way) -> Option<Routes> {
        let (trees, ranks) = (Arc::new(self.trees), self.ranks);
        let children = move |root, absent| Self::children(&trees, &ranks, root, absent);
        match way {
            Way::Sequential => None,
            Way::Tree(_) => Some(Routes::new(self.replicas.len(), children)),
        }
    }
}

/// Fig. 12: 8 to 28 replicas, and four other cores that ask them.
///
/// # Panics
///
/// The machine has fewer than 32 threads, or there are more than 28 replicas.
#[must_use]
pub fn agreement(
    machine: &Costs,
    replicas: usize,
    workload: Workload,
    way: Way,
    under_way: usize,
    handling: f64,
) -> Outcome {
    let cores = machine.in_turn();
    let generators = &cores[THREADS - GENERATORS..THREADS];
    let group = Group::new(machine, &cores[..replicas], generators, way);
    let clients = generators.iter().map(|&core| Client {
        core,
        replica: 0,
        connections: under_way,
    });
    let clients = clients.collect();
    let (mut order, protocol) = (group.replicas.clone(), Workload::Agreement == workload);
    let protocol = if protocol {
        Protocol::Paxos(group.routes(way))
    } else {
        // The acceptor takes the requests itself, so it is member 0 here.
        let mut children = Group::children(&group.trees, &group.ranks, 1, 0);
        order.swap(0, 1);
        children.swap(0, 1);
        let swapped = |child: &mut usize| *child = [1, 0].get(*child).copied().unwrap_or(*child);
        children.iter_mut().flatten().for_each(swapped);
        Protocol::Broadcast(children)
    };
    cluster::run(Setup {
        costs: machine.pairs.clone(),
        gigahertz: machine.gigahertz,
        replicas: order,
        clients,
        protocol,
        sets: 100,
        handling,
    })
}

/// Thousands of commands in a second that the busiest member has time for, by the model: what nobody exceeds.
///
/// # Panics
///
/// As [`agreement`].
#[must_use]
pub fn bound_per_ms(machine: &Costs, replicas: usize, way: Way) -> f64 {
    let cores = machine.in_turn();
    let generators = &cores[THREADS - GENERATORS..THREADS];
    let group = Group::new(machine, &cores[..replicas], generators, way);
    machine.gigahertz * 1e6 / group.roles.busiest
}

/// Fig. 13: a replica on each NUMA node, whose other cores ask it, 80 of 100 times for what it has. The first of them, in turn, have
/// one connection more than the others if these are not shared out evenly.
///
/// # Panics
///
/// The machine has fewer than 32 threads on other than 8 nodes.
#[must_use]
pub fn store(machine: &Costs, connections: usize, way: Way, handling: f64) -> Outcome {
    let cores = machine.in_turn();
    let (stores, others) = cores.split_at(STORES);
    let group = Group::new(machine, stores, &[], way);
    let numa = machine.pairs.numa_nodes();
    let near = |core: usize| {
        let replica = group.replicas.iter().position(|it| numa[*it] == numa[core]);
        replica.expect("a replica on each node")
    };
    let clients = others.iter().enumerate().map(|(place, &core)| Client {
        core,
        replica: near(core),
        connections: (connections + others.len() - 1 - place) / others.len(),
    });
    cluster::run(Setup {
        costs: machine.pairs.clone(),
        gigahertz: machine.gigahertz,
        clients: clients.collect(),
        replicas: group.replicas.clone(),
        protocol: Protocol::Paxos(group.routes(way)),
        sets: 20,
        handling,
    })
}
