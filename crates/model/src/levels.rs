//! The numbers of packages, NUMA nodes, cores and hardware threads of a regular machine.

use crate::machine::{Machine, Pu};

/// For each level the number of its members in one of the level above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Packages in the machine.
    pub package: u32,
    /// NUMA nodes in a package.
    pub numa: u32,
    /// Cores in a NUMA node.
    pub core: u32,
    /// Hardware threads in a core.
    pub pu: u32,
}

impl Levels {
    /// Number of hardware threads.
    #[must_use]
    pub fn threads(&self) -> u64 {
        // Four factors of at most 4096 each cannot overflow 64 bits.
        [self.package, self.numa, self.core, self.pu]
            .into_iter()
            .map(u64::from)
            .product()
    }

    /// Returns the machine with these counts. Threads are numbered from 0: SMT siblings next to
    /// each other, then cores, NUMA nodes and packages.
    #[must_use]
    pub fn machine(&self, name: &str) -> Machine {
        let pus = (0..self.threads() as u32).map(|os_index| {
            let core = os_index / self.pu;
            let numa_node = core / self.core;
            let package = numa_node / self.numa;
            Pu {
                os_index,
                package,
                numa_node,
                numa_os_index: numa_node,
                core,
            }
        });
        Machine {
            name: name.to_owned(),
            cpu: None,
            pus: pus.collect(),
            caches: Vec::new(),
            assumptions: Vec::new(),
        }
    }
}
