//! Topology classes: pairs that should cost the same.
//!
//! The class of an ordered pair is the proximity of the two *and* the NUMA nodes from which and to
//! which it goes. The nodes keep what sampling would otherwise lose: machines of four and more
//! packages have nodes at different distances, and the cost from node a to node b is not that from
//! b to a (Smelt §3.2).

use std::fmt;

use corecast_model::{CacheKind, Machine, Proximity, Pu};

/// The proximity of two hardware threads, nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// SMT siblings.
    SameCore,
    /// Different cores that share a data cache of this level, the nearest that they share.
    SharedCache(u8),
    /// Different cores of one NUMA node without a cache in common.
    SameNumaNode,
    /// One package, different NUMA nodes.
    SamePackage,
    /// Different packages.
    OtherPackage,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameCore => f.write_str("same core"),
            Self::SharedCache(level) => write!(f, "same L{level} cache"),
            Self::SameNumaNode => f.write_str("same NUMA node"),
            Self::SamePackage => f.write_str("same package"),
            Self::OtherPackage => f.write_str("other package"),
        }
    }
}

/// A topology class of ordered pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class {
    /// The proximity of sender and receiver.
    pub kind: Kind,
    /// The sender's NUMA node, as a dense index.
    pub from_node: u32,
    /// The receiver's NUMA node, as a dense index.
    pub to_node: u32,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            from_node,
            to_node,
        } = self;
        if from_node == to_node {
            write!(f, "{kind} in NUMA node {from_node}")
        } else {
            write!(f, "{kind} from NUMA node {from_node} to {to_node}")
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
        let kind = match from.proximity(to) {
            Proximity::SameCore => Kind::SameCore,
            Proximity::SameNumaNode => self
                .shared(from.os_index, to.os_index)
                .map_or(Kind::SameNumaNode, Kind::SharedCache),
            Proximity::SamePackage => Kind::SamePackage,
            Proximity::OtherPackage => Kind::OtherPackage,
        };
        Class {
            kind,
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
        let kind = |a, b| caches.class(pu(a), pu(b)).kind;
        assert_eq!(kind(0, 1), Kind::SameCore);
        assert_eq!(kind(0, 2), Kind::SharedCache(2));
        assert_eq!(kind(0, 6), Kind::SharedCache(3));
        // The second node's caches are unknown.
        assert_eq!(kind(8, 10), Kind::SameNumaNode);
        assert_eq!(kind(0, 8), Kind::SamePackage);
        assert_eq!(kind(0, 31), Kind::OtherPackage);
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
