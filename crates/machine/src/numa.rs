//! NUMA nodes: their PUs, memory and distances.
//!
//! PUs and memory need not come together: nodes of high-bandwidth or CXL memory have no PU, nodes
//! whose memory slots are empty have no memory, and some firmware leaves PUs out of every node.

use crate::cpulist::CpuList;
use crate::files::Files;

const NODES: &str = "/sys/devices/system/node";

/// A NUMA node of the whole machine, whatever the process may use of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumaNode {
    /// The operating system's number, as `numactl` takes it; there may be holes.
    pub os_index: u32,
    /// Its online PUs; empty for a node of memory alone.
    pub pus: CpuList,
    /// Its memory: `Some(0)` for a node of PUs alone, `None` where unknown.
    pub memory_bytes: Option<u64>,
    /// Whether the process may allocate there (`Mems_allowed_list`).
    pub allowed: bool,
    /// The firmware's relative distances to all nodes in the order of their numbers, 10 being
    /// local; empty where unknown.
    pub distances: Vec<u32>,
}

impl NumaNode {
    /// Whether the node has memory, as far as is known.
    pub fn has_memory(&self) -> bool {
        self.memory_bytes != Some(0)
    }
}

/// All nodes by increasing number; each online PU is in exactly one.
pub(crate) fn nodes(files: &mut Files, online: &CpuList, package: &[u32]) -> Vec<NumaNode> {
    let directories = files.numbered(NODES, "node");
    let listed = files.list(&format!("{NODES}/online"));
    // A number without a directory tells nothing; a directory not listed is going away.
    let numbers = listed.map_or(directories.clone(), |list| list.intersection(&directories));
    if numbers.is_empty() {
        files.assume("no NUMA data in sysfs: assumed one node");
        return vec![NumaNode {
            os_index: 0,
            pus: online.clone(),
            memory_bytes: memory_bytes(files, "/proc/meminfo"),
            allowed: true,
            distances: Vec::new(),
        }];
    }
    let with_memory = files.first_list(NODES, &["has_memory", "has_normal_memory"]);
    let allowed = allowed_nodes(files);
    let mut nodes: Vec<NumaNode> = Vec::new();
    for os_index in numbers.iter() {
        let directory = format!("{NODES}/node{os_index}");
        let without = with_memory
            .as_ref()
            .is_some_and(|list| !list.contains(os_index));
        let pus = claimed(files, &directory).intersection(online);
        nodes.push(NumaNode {
            os_index,
            pus,
            memory_bytes: if without {
                Some(0)
            } else {
                memory_bytes(files, &format!("{directory}/meminfo"))
            },
            allowed: allowed.as_ref().is_none_or(|list| list.contains(os_index)),
            distances: distances(files, &directory, numbers.len()),
        });
    }
    keep_first_claims(files, &mut nodes);
    adopt_homeless(files, &mut nodes, online, package);
    nodes
}

/// Returns the PUs that a node lists.
fn claimed(files: &Files, directory: &str) -> CpuList {
    let by_mask = || CpuList::from_mask(&files.text(&format!("{directory}/cpumap"))?);
    files
        .list(&format!("{directory}/cpulist"))
        .or_else(by_mask)
        .unwrap_or_default()
}

/// Keeps each PU in the first node that lists it: emulated NUMA (`numa=fake`) lists a PU in
/// several.
fn keep_first_claims(files: &mut Files, nodes: &mut [NumaNode]) {
    let mut taken = CpuList::new();
    for node in nodes {
        let twice = node.pus.intersection(&taken);
        if !twice.is_empty() {
            files.assume(format!(
                "PU {twice} is in NUMA node {} and in another: assumed the first",
                node.os_index
            ));
            node.pus = node.pus.difference(&taken);
        }
        taken = taken.union(&node.pus);
    }
}

/// Gives PUs in no node the node that sysfs links them to, else one of their package, else the
/// first node with memory.
fn adopt_homeless(files: &mut Files, nodes: &mut [NumaNode], online: &CpuList, package: &[u32]) {
    let housed = nodes
        .iter()
        .fold(CpuList::new(), |all, node| all.union(&node.pus));
    let package_of = |pu: u32| {
        let at = online.as_slice().binary_search(&pu).ok()?;
        package.get(at)
    };
    let with_memory = nodes.iter().position(NumaNode::has_memory).unwrap_or(0);
    for pu in online.difference(&housed).iter() {
        let links = files.numbered(&format!("/sys/devices/system/cpu/cpu{pu}"), "node");
        let linked = nodes.iter().position(|node| links.contains(node.os_index));
        let same_package =
            |other: u32| housed.contains(other) && package_of(other) == package_of(pu);
        let beside = || {
            nodes
                .iter()
                .position(|node| node.pus.iter().any(same_package))
        };
        let at = linked.or_else(beside).unwrap_or(with_memory);
        if linked.is_none() {
            let home = nodes[at].os_index;
            files.assume_of(pu, format!("in no NUMA node: assumed node {home}"));
        }
        nodes[at].pus.insert(pu);
    }
}

fn distances(files: &mut Files, directory: &str, nodes: usize) -> Vec<u32> {
    let Some(text) = files.text(&format!("{directory}/distance")) else {
        return Vec::new();
    };
    let row: Option<Vec<u32>> = text
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect();
    match row.filter(|row| row.len() == nodes) {
        Some(row) => row,
        None => {
            files.assume(format!(
                "{directory}/distance reads {text:?}: assumed unknown distances"
            ));
            Vec::new()
        }
    }
}

/// Reads a line such as `Node 0 MemTotal:        4548824 kB`, which `/proc/meminfo` has without the
/// node.
fn memory_bytes(files: &Files, path: &str) -> Option<u64> {
    let text = files.text(path)?;
    let total = text
        .lines()
        .find_map(|line| line.split_once("MemTotal:"))?
        .1;
    let kib: u64 = total.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

fn allowed_nodes(files: &Files) -> Option<CpuList> {
    let status = files.text("/proc/self/status")?;
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Mems_allowed_list:"))?;
    list.parse().ok().filter(|list: &CpuList| !list.is_empty())
}
