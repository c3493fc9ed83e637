//! The hardware as a flat table of processing units.
//!
//! A table, not a tree of boxes: odd machines (a CPU in no memory node, caches that cut across
//! NUMA nodes) have no proper tree, and every question that a planner asks ("same NUMA node?") is
//! one comparison of two entries. Names are hwloc's: package, NUMA node, core, PU.

use serde::{Deserialize, Serialize};

/// One machine as far as it was discovered, read from a file, or made up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// What the machine is called, for people.
    pub name: String,
    /// The processor's own name, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// All usable hardware threads, by increasing operating-system number, which may have holes.
    pub pus: Vec<Pu>,
    /// Data and unified caches; empty where the machine does not tell.
    #[serde(default)]
    pub caches: Vec<Cache>,
    /// What discovery had to assume because the machine did not tell, one sentence each.
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
    /// Which core it belongs to, counted over the whole machine; equal for SMT siblings.
    pub core: u32,
}

/// A cache and the hardware threads that share it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 for the level nearest to the core.
    pub level: u8,
    /// What it holds.
    pub kind: CacheKind,
    /// Capacity in bytes; `None` where unknown.
    pub size_bytes: Option<u64>,
    /// Line size in bytes; `None` where unknown.
    pub line_bytes: Option<u32>,
    /// Operating-system numbers of the sharers, increasing.
    pub shared_by: Vec<u32>,
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheKind {
    /// Data alone.
    Data,
    /// Instructions alone.
    Instruction,
    /// Both.
    Unified,
}
