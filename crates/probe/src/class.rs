//! Topology classes: pairs that should cost the same.
//!
//! The class of an ordered pair is the proximity of the two *and* the NUMA nodes from which and to
//! which it goes. The nodes keep what sampling would otherwise lose: machines of four and more
//! packages have nodes at different distances, and the cost from node a to node b is not that from
//! b to a (Smelt §3.2).

use std::fmt;

use corecast_model::deep::Near;
use corecast_model::{CacheKind, Machine, Proximity, Pu};

/// A topology class of ordered pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class {
    /// The proximity of sender and receiver.
    pub near: Near,
    /// The sender's NUMA node, as a dense index.
    pub from_node: u32,
    /// The receiver's NUMA node, as a dense index.
    pub to_node: u32,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            near,
            from_node,
            to_node,
        } = self;
        if from_node == to_node {
            write!(f, "{near} in NUMA node {from_node}")
        } else {
            write!(f, "{near} from NUMA node {from_node} to {to_node}")
        }
    }
}

/// The data caches of each hardware thread.
#[derive(Debug)]
pub(crate) struct Caches {
    /// (hardware thread, level, number of the cache), sorted.
    of: Vec<(u32, u8, usize)>,
}

impl Caches {
    pub(crate) fn new(machine: &Machine) -> Self {
        let data = |kind| kind != CacheKind::Instruction;
        let mut of: Vec<_> = machine
            .caches
            .iter()
            .enumerate()
            .filter(|(_, cache)| data(cache.kind))
            .flat_map(|(number, cache)| {
                cache
                    .shared_by
                    .iter()
                    .map(move |&pu| (pu, cache.level, number))
            })
            .collect();
        of.sort_unstable();
        Self { of }
    }

    fn of(&self, os_index: u32) -> &[(u32, u8, usize)] {
        let start = self.of.partition_point(|&(pu, _, _)| pu < os_index);
        let end = self.of.partition_point(|&(pu, _, _)| pu <= os_index);
        &self.of[start..end]
    }

    /// Returns the level of the nearest cache that both have.
    fn shared(&self, a: u32, b: u32) -> Option<u8> {
        let theirs = self.of(b);
        self.of(a)
            .iter()
            .filter(|(_, _, number)| theirs.iter().any(|(_, _, other)| other == number))
            .map(|&(_, level, _)| level)
            .min()
    }

    pub(crate) fn class(&self, from: &Pu, to: &Pu) -> Class {
        let near = match from.proximity(to) {
            Proximity::SameCore => Near::SameCore,
            Proximity::SameNumaNode => self
                .shared(from.os_index, to.os_index)
                .map_or(Near::SameNumaNode, Near::SameCache),
            Proximity::SamePackage => Near::SamePackage,
            Proximity::OtherPackage => Near::OtherPackage,
        };
        Class {
            near,
            from_node: from.numa_node,
            to_node: to.numa_node,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_model::{Cache, synthetic};

    #[test]
    fn the_nearest_common_thing_counts() {
        let file = synthetic("package:2 numa:2 core:4 pu:2").unwrap();
        let mut machine = file.machine().clone();
        let cache = |level, kind, shared_by: Vec<u32>| Cache {
            level,
            kind,
            size_bytes: None,
            line_bytes: None,
            shared_by,
        };
        machine.caches = vec![
            cache(3, CacheKind::Unified, (0..8).collect()),
            cache(2, CacheKind::Unified, (0..4).collect()),
            cache(1, CacheKind::Instruction, (0..8).collect()),
        ];
        machine.validate().unwrap();
        let pu = |n: usize| &machine.pus[n];
        let caches = Caches::new(&machine);
        let near = |a, b| caches.class(pu(a), pu(b)).near;
        assert_eq!(near(0, 1), Near::SameCore);
        assert_eq!(near(0, 2), Near::SameCache(2));
        assert_eq!(near(0, 6), Near::SameCache(3));
        // The second node's caches are unknown.
        assert_eq!(near(8, 10), Near::SameNumaNode);
        assert_eq!(near(0, 8), Near::SamePackage);
        assert_eq!(near(0, 31), Near::OtherPackage);
        assert_ne!(
            caches.class(pu(0), pu(31)),
            caches.class(pu(31), pu(0)),
            "the two directions are classes of their own"
        );
        assert_eq!(
            caches.class(pu(0), pu(31)).to_string(),
            "other package from NUMA node 0 to 3"
        );
    }
}
