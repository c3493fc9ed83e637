//! Machines: plain ones of each kind, and those of the literature.
//!
//! Parts for which the source gives no figure are told so; they are set such that what was measured comes
//! out.

use super::network::{Hop, Inner, Link};
use super::{Costs, Finding, Home, Machine, Protocol, Seat, Sizes, Spot};

/// Round figures of a core of our days, in cycles.
fn plain_costs() -> Costs {
    Costs {
        l1: 4.0,
        l2: 14.0,
        store: 1.0,
        atomic: 18.0,
        snoop: 10.0,
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

fn plain_sizes() -> Sizes {
    Sizes {
        l1: 512,
        l2: 8192,
        shared: 1 << 19,
        inclusive: true,
        stores: 42,
        draining: 8,
        ordered: true,
        misses: 10,
    }
}

fn spot(package: usize, stop: usize) -> Spot {
    Spot {
        package: package as u32,
        stop: stop as u32,
    }
}

fn plain(name: String, inner: Inner) -> Machine {
    Machine {
        name,
        unit: "cycles".to_owned(),
        protocol: Protocol::Mesi,
        finding: Finding::Directory,
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
fn tiles(mut machine: Machine, count: usize) -> Machine {
    for stop in 0..count {
        machine.cores.push(Seat {
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

/// A mesh of tiles, each with a core and a directory of the lines at home there (MESI).
pub fn mesh(width: usize, height: usize) -> Machine {
    let hop = Hop {
        latency: 2.0,
        control: 1.0,
        data: 5.0,
    };
    let (columns, rows) = (width as u32, height as u32);
    let inner = Inner::Mesh {
        width: columns,
        height: rows,
        hop,
    };
    tiles(
        plain(format!("mesh-{width}x{height}"), inner),
        width * height,
    )
}

/// A ring of cores, each with a directory of the lines at home there (MESI).
pub fn ring(cores: usize) -> Machine {
    let hop = Hop {
        latency: 2.0,
        control: 1.0,
        data: 2.0,
    };
    let stops = cores as u32;
    let inner = Inner::Ring { stops, hop };
    tiles(plain(format!("ring-{cores}"), inner), cores)
}

/// Cores on one bus that all of them watch (MESI).
pub fn bus(cores: usize) -> Machine {
    let hop = Hop {
        latency: 10.0,
        control: 10.0,
        data: 20.0,
    };
    let mut machine = plain(format!("bus-{cores}"), Inner::Bus(hop));
    machine.finding = Finding::Snooping;
    for stop in 0..cores {
        machine.cores.push(Seat {
            spot: spot(0, stop),
            group: None,
            home: 0,
        });
    }
    machine.homes.push(Home {
        spot: spot(0, 0),
        memory: 0,
    });
    machine
}

/// Packages whose cores share a cache, each with a memory, all linked with each other (MESIF).
pub fn packages(packages: usize, cores: usize) -> Machine {
    let inner = Inner::Crossbar {
        stops: cores as u32 + 1,
        latency: vec![10.0],
    };
    let mut machine = plain(format!("packages-{packages}x{cores}"), inner);
    machine.protocol = Protocol::Mesif;
    machine.memories.clear();
    for package in 0..packages {
        for core in 0..cores {
            machine.cores.push(Seat {
                spot: spot(package, core + 1),
                group: Some(package as u32),
                home: package as u32,
            });
        }
        machine.groups.push(spot(package, 0));
        machine.homes.push(Home {
            spot: spot(package, 0),
            memory: package as u32,
        });
        machine.memories.push(spot(package, 0));
    }
    let hop = Hop {
        latency: 60.0,
        control: 2.0,
        data: 10.0,
    };
    for a in 0..packages as u32 {
        machine
            .links
            .extend((0..a).map(|b| Link { a: b, b: a, hop }));
    }
    machine
}

/// TILEPro64, 866 MHz: 8 × 8 tiles, lines at home in a tile's cache (Mencagli and others, Tables 2 and 4).
///
/// From the tables: loads of 2, 8 and 40 to 70 cycles, memory at 120; a store to another tile's line 45 to 73
/// cycles. The network's cycle per hop is Tilera's; the service of a tile's cache is fitted to those.
pub fn tilepro64() -> Machine {
    let hop = Hop {
        latency: 1.0,
        control: 1.0,
        data: 4.0,
    };
    let inner = Inner::Mesh {
        width: 8,
        height: 8,
        hop,
    };
    let mut machine = tiles(plain("tilepro64".to_owned(), inner), 64);
    machine.protocol = Protocol::Home;
    machine.memories = [2, 5, 58, 61].map(|stop| spot(0, stop)).to_vec();
    for (tile, home) in machine.homes.iter_mut().enumerate() {
        home.memory = (tile % 8 / 4 + tile / 32 * 2) as u32;
    }
    machine.costs = Costs {
        l1: 2.0,
        l2: 8.0,
        store: 1.0,
        atomic: 10.0,
        snoop: 28.0,
        shared: 0.0,
        home: 0.0,
        memory: 100.0,
        memory_service: 20.0,
        poll: 4.0,
        notify: 10.0,
        copy_line: 4.0,
        combine_bytes: 4.0,
        call: 20.0,
    };
    machine.sizes = Sizes {
        l1: 128,
        l2: 1024,
        shared: 0,
        inclusive: false,
        stores: 4,
        draining: 4,
        ordered: false,
        misses: 1,
    };
    machine
}
