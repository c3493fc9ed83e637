//! The NUMA placement of a team: the node on which each rank's lines are allocated.

use corecast_machine::Discovery;
use serde::Serialize;

/// The NUMA nodes for the lines of a team, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NumaPlacement {
    /// Each rank's NUMA node by the operating system's number; `None` where lines lie wherever they
    /// are touched first.
    pub nodes: Option<Vec<u32>>,
    /// Why, in words.
    pub reason: String,
}

impl NumaPlacement {
    /// The placement of a team whose rank r runs on PU `pus[r]`.
    ///
    /// # Examples
    ///
    /// ```
    /// let here = corecast::machine::discover();
    /// let numa_placement = corecast::NumaPlacement::of(&here, here.usable.as_slice(), false);
    /// assert_eq!(numa_placement.nodes, None);
    /// println!("{}", numa_placement.reason);
    /// ```
    pub fn of(here: &Discovery, pus: &[u32], pinned: bool) -> Self {
        let nowhere = |reason: &str| Self {
            nodes: None,
            reason: reason.to_owned(),
        };
        if !here.has_several_memory_nodes() {
            return nowhere("one NUMA node has all memory");
        }
        if !pinned {
            return nowhere("not placed, as threads that are not pinned have no home");
        }
        let nodes: Option<Vec<u32>> = pus.iter().map(|&pu| here.memory_node_of_pu(pu)).collect();
        match nodes {
            Some(nodes) => Self {
                nodes: Some(nodes),
                reason: "on the NUMA node of each rank's PU, or the nearest with memory".to_owned(),
            },
            None => nowhere("not placed, as the machine does not tell its nodes"),
        }
    }
}
