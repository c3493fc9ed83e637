//! The format of Smelt's public machine database (<http://machinedb.systems.ethz.ch>).
//!
//! One JSON object: `name`, `cpu`, `numa_nodes` (lists of thread numbers), `send[i][j]`,
//! `receive[i][j]`, `unit`, and optionally `sockets` and `threads_per_core`. Thread numbers are the
//! rows of the matrices. The format does not say which threads share a core or a package: threads
//! of a node are taken in the order of its list, `threads_per_core` at a time, and nodes are dealt
//! to packages evenly in order. What was assumed is written into the machine's `assumptions`.

use serde::Deserialize;

use super::content::MachineFile;
use super::error::FileError;
use super::raw::{Cell, numbers, unit};
use crate::machine::{Machine, Pu};
use crate::pairwise::{CostError, CostModel};

#[derive(Deserialize)]
struct RawEntry {
    name: String,
    #[serde(default)]
    cpu: Option<String>,
    numa_nodes: Vec<Vec<u64>>,
    #[serde(default)]
    sockets: Option<u32>,
    #[serde(default)]
    threads_per_core: Option<u32>,
    #[serde(default = "cycles")]
    unit: String,
    send: Vec<Vec<Cell>>,
    receive: Vec<Vec<Cell>>,
}

fn cycles() -> String {
    "cycles".to_owned()
}

pub(super) fn read(text: &str) -> Result<MachineFile, FileError> {
    let raw: RawEntry = serde_json::from_str(text)?;
    let unit = unit(&raw.unit)?;
    let n = raw.send.len();
    if n == 0 {
        return Err(CostError::Empty.into());
    }
    let node_of = node_of(&raw.numa_nodes, n)?;
    let costs = CostModel::new(
        unit,
        numbers("send", raw.send)?,
        numbers("receive", raw.receive)?,
        node_of.iter().map(|&node| node as u32).collect(),
    )?;

    let nodes = raw.numa_nodes.len() as u32;
    let mut assumptions = Vec::new();
    let packages = match raw.sockets {
        Some(sockets) if sockets > 0 && nodes.is_multiple_of(sockets) => sockets,
        _ => {
            assumptions.push("Each NUMA node is taken as a package of its own.".to_owned());
            nodes
        }
    };
    let siblings = raw.threads_per_core.unwrap_or(1).max(1) as usize;
    if siblings > 1 {
        assumptions.push(format!(
            "Each {siblings} threads that follow each other in a NUMA node share a core."
        ));
    }

    let mut pus = Vec::with_capacity(n);
    let mut cores = 0;
    for (node, threads) in raw.numa_nodes.iter().enumerate() {
        for (place, &thread) in threads.iter().enumerate() {
            let numa_node = node as u32;
            pus.push(Pu {
                os_index: thread as u32,
                package: numa_node / (nodes / packages),
                numa_node,
                numa_os_index: numa_node,
                core: cores + (place / siblings) as u32,
            });
        }
        cores += threads.len().div_ceil(siblings) as u32;
    }
    pus.sort_by_key(|pu| pu.os_index);
    let machine = Machine {
        name: raw.name,
        cpu: raw.cpu,
        pus,
        caches: Vec::new(),
        assumptions,
    };
    MachineFile::of_whole(machine, costs)
}

/// The node of each thread, each thread in exactly one.
fn node_of(nodes: &[Vec<u64>], n: usize) -> Result<Vec<usize>, FileError> {
    let mut node_of = vec![None; n];
    for (node, threads) in nodes.iter().enumerate() {
        for &thread in threads {
            let slot = usize::try_from(thread)
                .ok()
                .and_then(|t| node_of.get_mut(t));
            match slot {
                None => {
                    return Err(FileError::ThreadOutOfRange {
                        node,
                        thread,
                        last: n - 1,
                    });
                }
                Some(Some(first)) => {
                    return Err(FileError::TwoNodes {
                        thread,
                        first: *first,
                        second: node,
                    });
                }
                Some(slot) => *slot = Some(node),
            }
        }
    }
    node_of
        .into_iter()
        .enumerate()
        .map(|(thread, node)| node.ok_or(FileError::NoNode { thread }))
        .collect()
}
