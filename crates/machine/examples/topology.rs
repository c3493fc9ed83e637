//! Prints what Corecast finds out about this machine: `cargo run --example topology`, or with a
//! directory in which another machine's `/sys` and `/proc` were recorded.

use std::path::Path;

use corecast_machine::{Options, describe, discover, discover_at, fingerprint};

fn main() {
    let found = match std::env::args_os().nth(1) {
        Some(root) => discover_at(Path::new(&root), &Options::default()),
        None => discover(),
    };
    println!("{}", describe(&found.machine));
    println!("key: {}", fingerprint(&found.machine));
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
    for sentence in &found.machine.assumptions {
        println!("note: {sentence}");
    }
}
