//! A nested view of the flat machine, for people to look at.

use std::collections::BTreeMap;
use std::fmt;

use corecast_model::{Cache, CacheKind, Machine, Pu};

use crate::cpulist::CpuList;

/// What a box of the nested view stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreeLevel {
    /// The whole machine.
    Machine,
    /// A package.
    Package,
    /// A NUMA node, or the part of it inside the enclosing box.
    NumaNode,
    /// The PUs that share a cache of this level with other cores, or the part of them inside the
    /// enclosing box.
    Cache(u8),
    /// A core.
    Core,
    /// A hardware thread.
    Pu,
}

/// A box of the nested view: package, NUMA node, shared cache, core, PU, from the outside in.
///
/// Real machines need not nest: a NUMA node may span packages, a cache may cut across nodes. Such
/// a group appears once in every enclosing box, and its label says which part it is. Each PU
/// appears exactly once. [`Display`](fmt::Display) draws the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineTree {
    /// What it stands for.
    pub level: TreeLevel,
    /// For people, such as `NUMA node 1` or `L3 32 MiB`.
    pub label: String,
    /// The PUs inside, by the operating system's numbers.
    pub pus: CpuList,
    /// The boxes directly inside.
    pub children: Vec<MachineTree>,
}

/// The nested view of a machine.
///
/// # Examples
///
/// ```
/// let machine = corecast_machine::discover().machine;
/// let tree = corecast_machine::describe(&machine);
/// assert_eq!(tree.pus.len(), machine.pus.len());
/// println!("{tree}");
/// ```
pub fn describe(machine: &Machine) -> MachineTree {
    let all: Vec<&Pu> = machine.pus.iter().collect();
    let cpu = machine
        .cpu
        .as_deref()
        .map(|cpu| format!(": {cpu}"))
        .unwrap_or_default();
    MachineTree {
        level: TreeLevel::Machine,
        label: format!("{}{cpu}, PU {}", machine.name, numbers(&all)),
        pus: numbers(&all),
        children: packages(machine, &all),
    }
}

fn packages(machine: &Machine, pus: &[&Pu]) -> Vec<MachineTree> {
    let package = |(number, pus): (u32, Vec<&Pu>)| MachineTree {
        level: TreeLevel::Package,
        label: format!("package {number}"),
        pus: numbers(&pus),
        children: nodes(machine, &pus),
    };
    split(pus, |pu| pu.package)
        .into_iter()
        .map(package)
        .collect()
}

fn nodes(machine: &Machine, pus: &[&Pu]) -> Vec<MachineTree> {
    let node = |(number, pus): (u32, Vec<&Pu>)| {
        let whole = machine.pus.iter().filter(|pu| pu.numa_node == number);
        let os_index = pus[0].numa_os_index;
        let alias = if os_index == number {
            String::new()
        } else {
            format!(" (node{os_index})")
        };
        let inside = numbers(&pus);
        MachineTree {
            level: TreeLevel::NumaNode,
            label: format!(
                "NUMA node {number}{alias}{}",
                part(&inside, &whole.map(|pu| pu.os_index).collect())
            ),
            pus: inside,
            children: shared_caches(machine, &pus, u8::MAX),
        }
    };
    split(pus, |pu| pu.numa_node)
        .into_iter()
        .map(node)
        .collect()
}

/// The groups that share a cache of the highest level below `above`; PUs without such a cache go
/// straight to the next level.
fn shared_caches(machine: &Machine, pus: &[&Pu], above: u8) -> Vec<MachineTree> {
    let inside = |cache: &Cache| pus.iter().any(|pu| cache.shared_by.contains(&pu.os_index));
    let candidates = machine.caches.iter().filter(|cache| {
        cache.level < above && cache.kind != CacheKind::Instruction && inside(cache)
    });
    let shared: Vec<&Cache> = candidates
        .filter(|cache| !is_private(machine, cache))
        .collect();
    let Some(level) = shared.iter().map(|cache| cache.level).max() else {
        return cores(machine, pus);
    };
    // The first cache that lists a PU has it: contradictory lists must not show it twice.
    let place = |pu: &Pu| {
        let holds = |cache: &&Cache| cache.level == level && cache.shared_by.contains(&pu.os_index);
        shared.iter().position(holds)
    };
    let mut boxes = Vec::new();
    for (at, pus) in split(pus, place) {
        let Some(cache) = at.map(|at| shared[at]) else {
            boxes.extend(shared_caches(machine, &pus, level));
            continue;
        };
        let (inside, whole) = (numbers(&pus), cache.shared_by.iter().copied().collect());
        boxes.push(MachineTree {
            level: TreeLevel::Cache(level),
            label: format!("{}{}", cache_label(cache), part(&inside, &whole)),
            pus: inside,
            children: shared_caches(machine, &pus, level),
        });
    }
    boxes
}

fn cores(machine: &Machine, pus: &[&Pu]) -> Vec<MachineTree> {
    let core = |(number, pus): (u32, Vec<&Pu>)| {
        let own = |cache: &&Cache| {
            cache.kind != CacheKind::Instruction
                && cache.shared_by.contains(&pus[0].os_index)
                && is_private(machine, cache)
        };
        let mut caches: Vec<&Cache> = machine.caches.iter().filter(own).collect();
        caches.sort_by_key(|cache| cache.level);
        let labels: Vec<String> = caches.into_iter().map(cache_label).collect();
        let caches = if labels.is_empty() {
            String::new()
        } else {
            format!(" ({})", labels.join(", "))
        };
        MachineTree {
            level: TreeLevel::Core,
            label: format!("core {number}{caches}"),
            pus: numbers(&pus),
            children: pus.iter().map(|pu| leaf(pu)).collect(),
        }
    };
    split(pus, |pu| pu.core).into_iter().map(core).collect()
}

fn leaf(pu: &Pu) -> MachineTree {
    MachineTree {
        level: TreeLevel::Pu,
        label: format!("PU {}", pu.os_index),
        pus: CpuList::from([pu.os_index]),
        children: Vec::new(),
    }
}

/// Whether all sharers are hardware threads of one core.
fn is_private(machine: &Machine, cache: &Cache) -> bool {
    let mut cores = machine
        .pus
        .iter()
        .filter(|pu| cache.shared_by.contains(&pu.os_index));
    let Some(first) = cores.next() else {
        return true;
    };
    cores.all(|pu| pu.core == first.core)
}

/// Groups by a key, in the order of first appearance.
fn split<'a, K: Ord + Copy>(pus: &[&'a Pu], key: impl Fn(&Pu) -> K) -> Vec<(K, Vec<&'a Pu>)> {
    let mut places = BTreeMap::new();
    let mut groups: Vec<(K, Vec<&Pu>)> = Vec::new();
    for pu in pus {
        let key = key(pu);
        let place = *places.entry(key).or_insert(groups.len());
        if place == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[place].1.push(pu);
    }
    groups
}

fn numbers(pus: &[&Pu]) -> CpuList {
    pus.iter().map(|pu| pu.os_index).collect()
}

fn part(inside: &CpuList, whole: &CpuList) -> String {
    if whole.is_subset(inside) {
        String::new()
    } else {
        format!(", part of it: PU {inside} of {whole}")
    }
}

fn cache_label(cache: &Cache) -> String {
    let size = match cache.size_bytes {
        None => String::new(),
        Some(bytes) if bytes >= 1 << 20 && bytes % (1 << 18) == 0 => {
            format!(" {} MiB", bytes as f64 / f64::from(1 << 20))
        }
        Some(bytes) => format!(" {} KiB", bytes >> 10),
    };
    format!("L{}{size}", cache.level)
}

impl fmt::Display for MachineTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)?;
        draw(&self.children, "", f)
    }
}

fn draw(boxes: &[MachineTree], indent: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (at, item) in boxes.iter().enumerate() {
        let last = at + 1 == boxes.len();
        let (branch, below) = if last {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        write!(f, "\n{indent}{branch}{}", item.label)?;
        draw(&item.children, &format!("{indent}{below}"), f)?;
    }
    Ok(())
}
