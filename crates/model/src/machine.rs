//! The hardware as a flat table of processing units.
//!
//! A table, not a tree of boxes: odd machines (a CPU in no memory node, caches that cut across
//! NUMA nodes) have no proper tree, and every question that a planner asks ("same NUMA node?") is
//! one comparison of two entries. Names are hwloc's: package, NUMA node, core, PU.

use std::collections::BTreeSet;
use std::hash::Hasher;

use fnv::FnvHasher;
use serde::{Deserialize, Serialize};

use crate::place::Place;

pub use crate::place::Proximity;

/// One machine as it was discovered, read from a file, or made up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The name of the machine, for the user.
    pub name: String,
    /// The processor's own name, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// All usable hardware threads, by increasing operating-system number, which may have holes.
    pub pus: Vec<Pu>,
    /// Data and unified caches; empty where the machine does not tell.
    #[serde(default)]
    pub caches: Vec<Cache>,
    /// Facts that discovery had to assume because the machine did not tell, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
}

/// A hardware thread ("processing unit" in hwloc's words).
///
/// `package`, `numa_node` and `core` are dense indices within the machine, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pu {
    /// The operating system's number, as `taskset` takes it.
    pub os_index: u32,
    /// Which package it sits in.
    pub package: u32,
    /// Which NUMA node it sits in.
    pub numa_node: u32,
    /// The operating system's number of that NUMA node.
    pub numa_os_index: u32,
    /// The core that it belongs to, counted over the whole machine; equal for SMT siblings.
    pub core: u32,
}

/// A cache and the hardware threads that share it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 for the level nearest to the core.
    pub level: u8,
    /// The contents of the cache.
    pub kind: CacheKind,
    /// Capacity in bytes; `None` where unknown.
    pub size_bytes: Option<u64>,
    /// Line size in bytes; `None` where unknown.
    pub line_bytes: Option<u32>,
    /// Operating-system numbers of the sharers, increasing.
    pub shared_by: Vec<u32>,
}

/// The contents of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheKind {
    /// Data alone.
    Data,
    /// Instructions alone.
    Instruction,
    /// Data and instructions.
    Unified,
}

/// Why a table of hardware threads was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The machine has no hardware thread.
    #[error("machine {name:?} has no hardware threads: list at least one under \"pus\"")]
    Empty {
        /// The machine's name.
        name: String,
    },
    /// The table is not sorted, or names one thread twice.
    #[error(
        "machine {name:?} lists hardware thread {found} after {before}: \
         list each once, by increasing os_index"
    )]
    Order {
        /// The machine's name.
        name: String,
        /// The earlier entry's operating-system number.
        before: u32,
        /// The operating-system number of the later entry.
        found: u32,
    },
    /// A cache is shared by a thread that the machine does not have.
    #[error(
        "machine {name:?}: a level-{level} cache is shared by hardware thread {os_index}, \
         which is not listed under \"pus\""
    )]
    UnknownSharer {
        /// The machine's name.
        name: String,
        /// The cache's level.
        level: u8,
        /// The operating-system number of the unknown thread.
        os_index: u32,
    },
}

impl Pu {
    /// Returns the proximity of this hardware thread and another, by the rule of [`Place::proximity`].
    #[must_use]
    pub fn proximity(&self, other: &Self) -> Proximity {
        Place::from(self).proximity(&Place::from(other))
    }
}

impl Machine {
    /// Checks the properties on which all readers of the table rely.
    ///
    /// # Errors
    ///
    /// The table has no hardware thread, threads unsorted or repeated, or a cache shared by an unknown
    /// thread.
    pub fn validate(&self) -> Result<(), MachineError> {
        if self.pus.is_empty() {
            return Err(MachineError::Empty {
                name: self.name.clone(),
            });
        }
        for pair in self.pus.windows(2) {
            if pair[1].os_index <= pair[0].os_index {
                return Err(MachineError::Order {
                    name: self.name.clone(),
                    before: pair[0].os_index,
                    found: pair[1].os_index,
                });
            }
        }
        for cache in &self.caches {
            if let Some(&os_index) = cache.shared_by.iter().find(|&&os| self.pu(os).is_none()) {
                return Err(MachineError::UnknownSharer {
                    name: self.name.clone(),
                    level: cache.level,
                    os_index,
                });
            }
        }
        Ok(())
    }

    /// The hardware thread with this operating-system number.
    ///
    /// # Cost
    ///
    /// A binary search; the table must be sorted, as [`Machine::validate`] checks.
    #[must_use]
    pub fn pu(&self, os_index: u32) -> Option<&Pu> {
        let at = self
            .pus
            .binary_search_by_key(&os_index, |pu| pu.os_index)
            .ok()?;
        Some(&self.pus[at])
    }

    /// The operating system's number of the NUMA node of each of `threads`; 0 where a thread is unknown.
    pub fn numa_os_indices(&self, threads: &[u32]) -> Vec<u32> {
        let numa = |&thread: &u32| self.pu(thread).map_or(0, |pu| pu.numa_os_index);
        threads.iter().map(numa).collect()
    }

    /// Number of packages that hold at least one usable hardware thread.
    #[must_use]
    pub fn package_count(&self) -> usize {
        self.distinct(|pu| pu.package)
    }

    /// Number of NUMA nodes that hold at least one usable hardware thread.
    #[must_use]
    pub fn numa_node_count(&self) -> usize {
        self.distinct(|pu| pu.numa_node)
    }

    /// Number of cores that hold at least one usable hardware thread.
    #[must_use]
    pub fn core_count(&self) -> usize {
        self.distinct(|pu| pu.core)
    }

    /// A short string that changes whenever the table of hardware threads or the caches change,
    /// and is the same on every platform and in every run.
    ///
    /// It counts packages, NUMA nodes, cores and threads, and adds a 64-bit FNV-1a hash of the details,
    /// for example `2p4n16c32t-9ae16a3b2f90404f`. Names and assumptions are left out: renaming a machine
    /// does not make its measurements stale.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        // The standard library's hasher promises no stable value.
        let mut hash = FnvHasher::default();
        let mut word = |word: u64| hash.write(&word.to_le_bytes());
        for pu in &self.pus {
            let places = [
                pu.os_index,
                pu.package,
                pu.numa_node,
                pu.numa_os_index,
                pu.core,
            ];
            places.into_iter().for_each(|place| word(place.into()));
        }
        for cache in &self.caches {
            word(u64::from(cache.level));
            word(cache.kind as u64);
            word(cache.size_bytes.map_or(u64::MAX, |bytes| bytes));
            word(cache.line_bytes.map_or(u64::MAX, u64::from));
            word(cache.shared_by.len() as u64);
            for &os_index in &cache.shared_by {
                word(u64::from(os_index));
            }
        }
        format!(
            "{}p{}n{}c{}t-{:016x}",
            self.package_count(),
            self.numa_node_count(),
            self.core_count(),
            self.pus.len(),
            hash.finish()
        )
    }

    fn distinct(&self, key: impl Fn(&Pu) -> u32) -> usize {
        self.pus.iter().map(key).collect::<BTreeSet<_>>().len()
    }
}

impl From<&Pu> for Place {
    fn from(pu: &Pu) -> Self {
        Self {
            package: pu.package,
            numa_node: pu.numa_node,
            core: pu.core,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pu(os_index: u32, package: u32, numa_node: u32, core: u32) -> Pu {
        Pu {
            os_index,
            package,
            numa_node,
            numa_os_index: numa_node,
            core,
        }
    }

    fn machine(pus: Vec<Pu>) -> Machine {
        Machine {
            name: "m".into(),
            cpu: None,
            pus,
            caches: vec![],
            assumptions: vec![],
        }
    }

    #[test]
    fn proximity_is_asked_from_the_inside_out() {
        let a = pu(0, 0, 0, 0);
        assert_eq!(a.proximity(&a), Proximity::SameCore);
        assert_eq!(a.proximity(&pu(1, 1, 1, 0)), Proximity::SameCore);
        assert_eq!(a.proximity(&pu(1, 0, 0, 1)), Proximity::SameNumaNode);
        assert_eq!(a.proximity(&pu(1, 0, 1, 1)), Proximity::SamePackage);
        assert_eq!(a.proximity(&pu(1, 1, 1, 1)), Proximity::OtherPackage);
    }

    #[test]
    fn fingerprint_sees_hardware_and_not_names() {
        let mut a = machine(vec![pu(0, 0, 0, 0), pu(1, 0, 0, 1)]);
        let before = a.fingerprint();
        assert!(before.starts_with("1p1n2c2t-"), "{before}");
        a.name = "other".into();
        assert_eq!(a.fingerprint(), before);
        a.pus[1].os_index = 2;
        assert_ne!(a.fingerprint(), before);
    }

    #[test]
    fn bad_tables_are_refused() {
        assert!(machine(vec![]).validate().is_err());
        let twice = machine(vec![pu(3, 0, 0, 0), pu(3, 0, 0, 1)]);
        assert!(
            twice
                .validate()
                .unwrap_err()
                .to_string()
                .contains("thread 3 after 3")
        );
        let mut cache = machine(vec![pu(3, 0, 0, 0)]);
        cache.caches.push(Cache {
            level: 2,
            kind: CacheKind::Unified,
            size_bytes: None,
            line_bytes: None,
            shared_by: vec![3, 4],
        });
        assert!(
            cache
                .validate()
                .unwrap_err()
                .to_string()
                .contains("thread 4")
        );
    }
}
