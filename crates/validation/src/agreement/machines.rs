//! The machine of the figures, and who runs where.
//!
//! The figures are of A IL 4x4x2, four Opteron 6378 of two dies each: eight NUMA nodes of four threads. Its pairwise costs are not
//! published. Those of A MC 4x12x1 stand for them, whose Opteron 6174 has the same socket, two dies and links as well: four of the six
//! cores of each die are used. Their medians by class of proximity are built in; where the public database is at hand, each
//! pair has its own cost. Two other machines of the database have 32 threads.

use corecast_model::{CostModel, MachineFile, Unit, builtin};
use corecast_plan::placement::round_robin;
use std::path::Path;

/// A machine with pairwise costs in cycles.
#[derive(Clone, Debug)]
pub struct Costs {
    /// Its name in tables.
    pub name: &'static str,
    /// Costs of its threads.
    pub pairs: CostModel,
    /// Cycles of a nanosecond.
    pub gigahertz: f64,
}

/// Replicas and load generators together (§5.6).
pub const THREADS: usize = 32;

/// The machine of the figures with median costs.
///
/// # Panics
///
/// Never: the machine is built in.
#[must_use]
pub fn medians() -> Costs {
    let near = builtin("magnycours-4x12").expect("it is built in");
    Costs {
        name: "medians of A MC 4x12x1",
        pairs: four_of_a_node(near.costs()),
        gigahertz: 2.2,
    }
}

/// Machines of the database with all pairs, that of the figures first; none if there is no copy beside this checkout.
///
/// # Panics
///
/// A file is no machine.
#[must_use]
pub fn pairs() -> Vec<Costs> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/machinedb");
    let files = [
        ("magnycours-4x12", "A MC 4x12x1", 2.2),
        ("barcelona-8x4", "A BC 8x4x1", 2.0),
        ("nehalem-4x8", "I NL 4x8x2", 1.87),
    ];
    let machines = files.into_iter().filter_map(|(file, name, gigahertz)| {
        let text = std::fs::read_to_string(folder.join(format!("{file}.json"))).ok()?;
        let file = MachineFile::from_json(&text).expect("a machine");
        let pairs = match file.costs().n() {
            THREADS => file.costs().clone(),
            _ => four_of_a_node(file.costs()),
        };
        Some(Costs {
            name,
            pairs,
            gigahertz,
        })
    });
    machines.collect()
}

/// A machine on which all messages cost the same, for sums by hand.
///
/// # Panics
///
/// A cost is none.
#[must_use]
pub fn uniform(send: f64, receive: f64) -> Costs {
    let numa = (0..THREADS as u32).map(|thread| thread / 4).collect();
    let pairs = CostModel::from_fn(Unit::Cycles, numa, |_, _| send, |_, _| receive);
    Costs {
        name: "uniform",
        pairs: pairs.expect("costs"),
        gigahertz: 1.0,
    }
}

/// The first four threads of each NUMA node.
fn four_of_a_node(costs: &CostModel) -> CostModel {
    let numa = costs.numa_nodes();
    let before = |thread: usize| numa[..thread].iter().filter(move |it| **it == numa[thread]);
    let four: Vec<usize> = (0..numa.len())
        .filter(|it| before(*it).count() < 4)
        .collect();
    costs.subset(&four).expect("threads of the machine")
}

impl Costs {
    /// All threads, one of each node in turn, as Smelt places its teams (§5.2).
    ///
    /// # Panics
    ///
    /// Never: a machine has threads.
    #[must_use]
    pub fn in_turn(&self) -> Vec<usize> {
        round_robin(self.pairs.numa_nodes(), self.pairs.n()).expect("all threads")
    }
}
