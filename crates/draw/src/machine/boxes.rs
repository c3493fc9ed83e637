//! A machine as nested boxes, from which both drawings of a topology are made.
//!
//! Boxes nest by size, not by a fixed order: usually package ⊃ NUMA node ⊃ L3 ⊃ core, but with
//! sub-NUMA clusters the L3 contains the nodes, and in some virtual machines a node spans packages.
//! A cache that belongs to one core alone is no box but part of that core's name. Where two kinds
//! cut across each other, the smaller one is drawn in parts, whose labels say so.

use std::collections::{BTreeMap, HashMap};

use corecast_model::words::bytes;
use corecast_model::{Cache, CacheKind, Machine, Pu};

/// The kind of hardware that a box stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The whole machine.
    Machine,
    /// A package.
    Package,
    /// A NUMA node; holds the operating system's number.
    Numa(u32),
    /// A cache that several cores share.
    Cache,
    /// A core.
    Core,
}

/// A part of the machine, with the parts it consists of.
#[derive(Clone, Debug)]
pub struct Part {
    /// The kind of hardware.
    pub kind: Kind,
    /// Its name with number and size, e.g. `L3, 32 MiB`.
    pub label: String,
    /// The parts inside, in order of their first thread; empty for cores.
    pub parts: Vec<Part>,
    /// Operating-system numbers of its hardware threads, increasing.
    pub pus: Vec<u32>,
}

/// A function of a hardware thread.
type Ask<'a, T> = Box<dyn Fn(&Pu) -> T + 'a>;

/// One way to divide the machine: a key per hardware thread, and a name per key.
struct Division<'a> {
    kind: fn(&Pu) -> Kind,
    key: Ask<'a, Option<usize>>,
    label: Ask<'a, String>,
}

/// The machine as nested boxes.
///
/// `memory` holds the bytes of each NUMA node by a NUMA node's operating-system number.
pub fn nest(machine: &Machine, memory: &HashMap<u32, u64>) -> Part {
    let caches = Caches::of(machine);
    let mut divisions = vec![
        Division {
            kind: |_| Kind::Package,
            key: Box::new(|p| Some(p.package as usize)),
            label: Box::new(|p| format!("package {}", p.package)),
        },
        Division {
            kind: |p| Kind::Numa(p.numa_os_index),
            key: Box::new(|p| Some(p.numa_node as usize)),
            label: Box::new(|p| {
                let memory = memory
                    .get(&p.numa_os_index)
                    .map_or(String::new(), |&b| format!(", {}", bytes(b)));
                format!("NUMA node {}{memory}", p.numa_os_index)
            }),
        },
    ];
    for level in caches.shared.values() {
        divisions.push(Division {
            kind: |_| Kind::Cache,
            key: Box::new(|p| level.get(&p.os_index).copied()),
            label: Box::new(|p| {
                level
                    .get(&p.os_index)
                    .map_or(String::new(), |&k| cache_name(&machine.caches[k]))
            }),
        });
    }
    divisions.push(Division {
        kind: |_| Kind::Core,
        key: Box::new(|p| Some(p.core as usize)),
        label: Box::new(|p| caches.core_name(machine, p)),
    });
    // The sort is stable, so equal sizes keep the customary order.
    divisions.sort_by_key(|d| std::cmp::Reverse(mean_size(machine, d)));
    let all: Vec<&Pu> = machine.pus.iter().collect();
    let parts = divide(machine, &all, &divisions);
    Part {
        kind: Kind::Machine,
        label: [Some(&machine.name), machine.cpu.as_ref()]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", "),
        parts,
        pus: all.iter().map(|p| p.os_index).collect(),
    }
}

/// Mean number of threads per part, in thousandths, among the threads that have such a part.
fn mean_size(machine: &Machine, division: &Division<'_>) -> usize {
    let keys: Vec<usize> = machine
        .pus
        .iter()
        .filter_map(|p| (division.key)(p))
        .collect();
    let mut distinct = keys.clone();
    distinct.sort_unstable();
    distinct.dedup();
    1000 * keys.len() / distinct.len().max(1)
}

/// Splits `pus` by the first division and each part by the rest.
fn divide(machine: &Machine, pus: &[&Pu], divisions: &[Division<'_>]) -> Vec<Part> {
    let Some((division, rest)) = divisions.split_first() else {
        return Vec::new();
    };
    let mut groups: BTreeMap<(u32, Option<usize>), Vec<&Pu>> = BTreeMap::new();
    let mut first: BTreeMap<Option<usize>, u32> = BTreeMap::new();
    for &p in pus {
        let key = (division.key)(p);
        let at = *first.entry(key).or_insert(p.os_index);
        groups.entry((at, key)).or_default().push(p);
    }
    let mut whole: HashMap<Option<usize>, usize> = HashMap::new();
    for p in &machine.pus {
        *whole.entry((division.key)(p)).or_default() += 1;
    }
    let mut parts = Vec::new();
    for ((_, key), members) in groups {
        if key.is_none() {
            // Threads without such a part have their smaller parts one level up.
            parts.extend(divide(machine, &members, rest));
            continue;
        }
        let whole = whole[&key];
        let mut label = (division.label)(members[0]);
        if members.len() < whole {
            label.push_str(&format!(" (part: {} of {whole} PUs)", members.len()));
        }
        let kind = (division.kind)(members[0]);
        parts.push(Part {
            kind,
            label,
            parts: divide(machine, &members, rest),
            pus: members.iter().map(|p| p.os_index).collect(),
        });
    }
    parts
}

/// The caches that belong to one core, and those that are boxes of their own, as indices into the machine's list.
struct Caches {
    /// For each level, outermost first, the cache of each hardware thread.
    shared: BTreeMap<std::cmp::Reverse<u8>, HashMap<u32, usize>>,
    /// The private caches of each core, outermost first.
    private: HashMap<u32, Vec<usize>>,
}

impl Caches {
    /// Sorts the caches of `machine` by whether several cores share them.
    fn of(machine: &Machine) -> Caches {
        let mut sorted = Caches {
            shared: BTreeMap::new(),
            private: HashMap::new(),
        };
        for (k, cache) in machine.caches.iter().enumerate() {
            let core_of = |&pu: &u32| machine.pu(pu).map(|p| p.core);
            let Some(first) = cache.shared_by.first().and_then(core_of) else {
                continue;
            };
            if cache.shared_by.iter().all(|pu| core_of(pu) == Some(first)) {
                sorted.private.entry(first).or_default().push(k);
            } else {
                let level = sorted
                    .shared
                    .entry(std::cmp::Reverse(cache.level))
                    .or_default();
                level.extend(cache.shared_by.iter().map(|&pu| (pu, k)));
            }
        }
        for caches in sorted.private.values_mut() {
            caches.sort_by_key(|&k| std::cmp::Reverse(machine.caches[k].level));
        }
        sorted
    }

    /// The name of a core with its private caches, such as `core 3, L2 1 MiB, L1d 32 KiB`.
    fn core_name(&self, machine: &Machine, pu: &Pu) -> String {
        let own = self.private.get(&pu.core).into_iter().flatten();
        let names = own.map(|&k| format!(", {}", cache_name(&machine.caches[k])));
        std::iter::once(format!("core {}", pu.core))
            .chain(names)
            .collect()
    }
}

/// The name of a cache, such as `L1d 32 KiB`.
fn cache_name(cache: &Cache) -> String {
    let kind = match cache.kind {
        CacheKind::Data => "d",
        CacheKind::Instruction => "i",
        CacheKind::Unified => "",
    };
    let size = cache.size_bytes.map_or("size unknown".to_owned(), bytes);
    format!("L{}{kind} {size}", cache.level)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `packages` × `numa` nodes × 4 cores × `smt` threads, one L3 for each `l3` cores.
    fn machine(packages: u32, numa: u32, smt: u32, l3: usize) -> Machine {
        let cores = packages * numa * 4;
        let pus: Vec<Pu> = (0..cores * smt)
            .map(|k| {
                let core = k % cores;
                let numa_node = core / 4;
                Pu {
                    os_index: k,
                    package: numa_node / numa,
                    numa_node,
                    numa_os_index: numa_node,
                    core,
                }
            })
            .collect();
        let caches = (0..cores as usize / l3)
            .map(|c| Cache {
                level: 3,
                kind: CacheKind::Unified,
                size_bytes: Some(32 << 20),
                line_bytes: Some(64),
                shared_by: pus
                    .iter()
                    .filter(|p| p.core as usize / l3 == c)
                    .map(|p| p.os_index)
                    .collect(),
            })
            .collect();
        Machine {
            name: "test".into(),
            cpu: None,
            pus,
            caches,
            assumptions: vec![],
        }
    }

    fn kinds(mut part: &Part) -> Vec<Kind> {
        let mut found = Vec::new();
        while let Some(first) = part.parts.first() {
            found.push(first.kind);
            part = first;
        }
        found
    }

    #[test]
    fn the_customary_order() {
        let root = nest(&machine(2, 2, 2, 2), &HashMap::new());
        assert_eq!(
            kinds(&root),
            [Kind::Package, Kind::Numa(0), Kind::Cache, Kind::Core]
        );
        assert_eq!(root.parts[0].parts[0].parts[0].label, "L3 32 MiB");
        assert_eq!(
            root.parts[1].pus,
            [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31]
        );
    }

    #[test]
    fn a_cache_above_numa_nodes_contains_them() {
        let root = nest(&machine(2, 2, 1, 8), &HashMap::new());
        assert_eq!(
            kinds(&root),
            [Kind::Package, Kind::Cache, Kind::Numa(0), Kind::Core]
        );
    }

    #[test]
    fn parts_that_cut_across_say_so() {
        let mut m = machine(1, 2, 1, 4);
        // One cache over cores 2 to 5, others uncached.
        m.caches.truncate(1);
        m.caches[0].shared_by = vec![2, 3, 4, 5];
        let root = nest(&m, &HashMap::new());
        let node = &root.parts[0].parts[0];
        let labels: Vec<&str> = node.parts.iter().map(|p| p.label.as_str()).collect();
        assert_eq!(labels, ["core 0", "core 1", "L3 32 MiB (part: 2 of 4 PUs)"]);
    }
}
