//! The base of machine descriptions: parts with round costs and sizes, laid out as tiles or as packages.

use super::links::Inner;
use super::parts::{CopyLookup, CorePlace, Home, PartCosts, PartSizes, Protocol, SimMachine, Spot};

/// Round costs of a present-day core, in cycles.
fn plain_costs() -> PartCosts {
    PartCosts {
        l1: 4.0,
        l2: 14.0,
        store: 1.0,
        atomic: 18.0,
        snoop: 10.0,
        invalidate: 10.0,
        fill: 0.0,
        shared: 20.0,
        home: 10.0,
        memory: 150.0,
        memory_service: 10.0,
        poll: 5.0,
        notify: 10.0,
        copy_line: 4.0,
        combine_bytes: 32.0,
        call: 10.0,
    }
}

fn plain_sizes() -> PartSizes {
    PartSizes {
        l1: 512,
        l2: 8192,
        shared: 1 << 19,
        inclusive: true,
        stores: 42,
        draining: 1,
        pipelined: true,
        ordered: true,
        misses: 10,
        lone: 1,
    }
}

pub(super) fn spot(package: usize, stop: usize) -> Spot {
    Spot {
        package: package as u32,
        stop: stop as u32,
    }
}

pub(super) fn plain(name: String, inner: Inner) -> SimMachine {
    SimMachine {
        name,
        unit: "cycles".to_owned(),
        protocol: Protocol::Mesi,
        finding: CopyLookup::Directory,
        cores: Vec::new(),
        groups: Vec::new(),
        homes: Vec::new(),
        memories: vec![spot(0, 0)],
        hashed: false,
        inner,
        links: Vec::new(),
        costs: plain_costs(),
        sizes: plain_sizes(),
    }
}

/// A core and a home at each stop, one memory at the first.
pub(super) fn tiles(mut machine: SimMachine, count: usize) -> SimMachine {
    for stop in 0..count {
        machine.cores.push(CorePlace {
            spot: spot(0, stop),
            group: None,
            home: stop as u32,
        });
        machine.homes.push(Home {
            spot: spot(0, stop),
            memory: 0,
        });
    }
    machine
}

/// Packages whose cores share a cache, each with a memory (MESIF): stop 0 is the shared cache and the way out,
/// cores are at 1 and on, home and memory at `agent`.
pub(super) fn in_packages(
    name: String,
    inner: Inner,
    packages: usize,
    cores: usize,
    agent: usize,
) -> SimMachine {
    let mut machine = plain(name, inner);
    machine.protocol = Protocol::Mesif;
    machine.memories.clear();
    for package in 0..packages {
        for core in 1..=cores {
            machine.cores.push(CorePlace {
                spot: spot(package, core),
                group: Some(package as u32),
                home: package as u32,
            });
        }
        machine.groups.push(spot(package, 0));
        machine.homes.push(Home {
            spot: spot(package, agent),
            memory: package as u32,
        });
        machine.memories.push(spot(package, agent));
    }
    machine
}
