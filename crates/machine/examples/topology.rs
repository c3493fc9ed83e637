//! Prints what Corecast finds out about this machine: `cargo run --example topology`, or with a
//! directory in which another machine's `/sys` and `/proc` were recorded.

use std::path::Path;

use corecast_machine::{Options, discover, discover_at};

fn main() {
    let found = match std::env::args_os().nth(1) {
        Some(root) => discover_at(Path::new(&root), &Options::default()),
        None => discover(),
    };
    let machine = &found.machine;
    let cpu = machine.cpu.as_deref().unwrap_or("unknown processor");
    println!("{}: {cpu}, key {}", machine.name, machine.fingerprint());
    for pu in &machine.pus {
        println!(
            "PU {}: package {}, NUMA node {}, core {}",
            pu.os_index, pu.package, pu.numa_os_index, pu.core
        );
    }
    println!("PUs: {} usable, of {} online", found.usable, found.online);
    for node in &found.numa_nodes {
        let memory = node
            .memory_bytes
            .map_or("unknown".into(), |b| format!("{} MiB", b >> 20));
        println!(
            "NUMA node {}: PU {}, memory {memory}",
            node.os_index, node.pus
        );
    }
    match &found.quota {
        Some(quota) => println!("quota: {} processors ({})", quota.cpus, quota.source),
        None => println!("quota: none"),
    }
    println!(
        "busy threads that make sense: {}",
        found.usable_parallelism()
    );
    for sentence in &machine.assumptions {
        println!("note: {sentence}");
    }
}
