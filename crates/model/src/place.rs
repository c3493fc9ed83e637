//! The place of a hardware thread, and the proximity of two of them.

/// The proximity of two hardware threads, nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Proximity {
    /// SMT siblings (or the same thread).
    SameCore,
    /// Different cores of one NUMA node.
    SameNumaNode,
    /// One package, different NUMA nodes.
    SamePackage,
    /// Different packages.
    OtherPackage,
}

impl Proximity {
    /// All classes, nearest first; a class's place here is its index in cost lists.
    pub const ALL: [Self; 4] = [
        Self::SameCore,
        Self::SameNumaNode,
        Self::SamePackage,
        Self::OtherPackage,
    ];
}

/// The place of a thread, as far as [`Proximity`] needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its package.
    pub package: u32,
    /// Its NUMA node.
    pub numa_node: u32,
    /// Its core, counted over the whole machine.
    pub core: u32,
}

impl Place {
    /// Returns the proximity of this place and another.
    ///
    /// Levels are compared from the inside out, so that a core that firmware spreads over two NUMA
    /// nodes still counts as one core.
    #[must_use]
    #[inline]
    pub fn proximity(&self, other: &Self) -> Proximity {
        if self.core == other.core {
            Proximity::SameCore
        } else if self.numa_node == other.numa_node {
            Proximity::SameNumaNode
        } else if self.package == other.package {
            Proximity::SamePackage
        } else {
            Proximity::OtherPackage
        }
    }
}
