//! Machines by name: plain ones of each kind, and those of the literature.
//!
//! Where the source of a machine gives no figure for a part, the documentation says so; that part is set such that the
//! measured times come out.

use super::links::{Hop, Inner, PackageLink};
use super::parts::{CopyLookup, CorePlace, Home, PartCosts, PartSizes, Protocol, SimMachine};
use super::plain::{in_packages, plain, spot, tiles};

/// A mesh of tiles, each with a core and a directory of the lines at home there (MESI).
pub fn mesh(width: usize, height: usize) -> SimMachine {
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
pub fn ring(cores: usize) -> SimMachine {
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
pub fn bus(cores: usize) -> SimMachine {
    let hop = Hop {
        latency: 10.0,
        control: 10.0,
        data: 20.0,
    };
    let mut machine = plain(format!("bus-{cores}"), Inner::Bus(hop));
    machine.finding = CopyLookup::Snooping;
    for stop in 0..cores {
        machine.cores.push(CorePlace {
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
pub fn packages(packages: usize, cores: usize) -> SimMachine {
    let inner = Inner::Crossbar {
        stops: cores as u32 + 1,
        latency: vec![10.0],
    };
    let mut machine = in_packages(
        format!("packages-{packages}x{cores}"),
        inner,
        packages,
        cores,
        0,
    );
    let hop = Hop {
        latency: 60.0,
        control: 2.0,
        data: 10.0,
    };
    for a in 0..packages as u32 {
        machine
            .links
            .extend((0..a).map(|b| PackageLink { a: b, b: a, hop }));
    }
    machine
}

/// TILEPro64, 866 MHz: 8 × 8 tiles, lines at home in a tile's cache (Mencagli and others, Tables 2 and 4).
///
/// From the tables: loads of 2, 8 and, from another tile, 40 to 70 cycles; memory at 120; a store to another tile's
/// line 45 to 73 cycles, and up to 332 with copies everywhere. So a hop takes one cycle, as Tilera says; the 32
/// cycles that are neither network nor the own caches are split into 4 for a tile's cache and 28 for the way back
/// into the core; a copy that goes takes 4. The tables do not tell a notification: 8 cycles for each end, as long as
/// the second cache, is what Table 5 shows for one hop. A copy has three lines under way, as Tilera's own does (Linux
/// 4.16, `arch/tile/lib/memcpy_32.S`).
pub fn tilepro64() -> SimMachine {
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
    machine.costs = PartCosts {
        l1: 2.0,
        l2: 8.0,
        store: 1.0,
        atomic: 10.0,
        snoop: 4.0,
        invalidate: 4.0,
        fill: 28.0,
        shared: 0.0,
        home: 0.0,
        memory: 100.0,
        memory_service: 20.0,
        poll: 4.0,
        notify: 8.0,
        copy_line: 4.0,
        combine_bytes: 4.0,
        call: 20.0,
    };
    machine.sizes = PartSizes {
        l1: 128,
        l2: 1024,
        shared: 0,
        inclusive: false,
        stores: 4,
        draining: 4,
        pipelined: false,
        ordered: false,
        misses: 3,
        lone: 0,
    };
    machine
}

/// The machine of a name: `tilepro64`, `xeon-e5-2650`, `xeon-e5-2660`, `xeon-phi-5110p`, `mesh:WxH`, `ring:N`, `bus:N`
/// or `packages:PxN`.
///
/// # Errors
///
/// If `name` is no such name, a size is 0, or the machine would have more than 65,536 cores. The error quotes the
/// name and lists the known ones.
///
/// # Examples
///
/// ```
/// use corecast_sim::machine::known;
///
/// assert_eq!(known::named("mesh:8x4")?.cores.len(), 32);
/// assert!(known::named("mesh:8").is_err());
/// # Ok::<(), known::UnknownMachine>(())
/// ```
pub fn named(name: &str) -> Result<SimMachine, UnknownMachine> {
    let unknown = || UnknownMachine {
        name: name.to_owned(),
    };
    let (family, size) = name.split_once(':').unwrap_or((name, ""));
    let number = |text: &str| -> Result<usize, UnknownMachine> {
        let number = text.parse().map_err(|_| unknown())?;
        match number {
            1..=CORES_MAX => Ok(number),
            _ => Err(unknown()),
        }
    };
    let pair = || {
        let (a, b) = size.split_once('x').ok_or_else(unknown)?;
        let (a, b) = (number(a)?, number(b)?);
        match a * b {
            ..=CORES_MAX => Ok((a, b)),
            _ => Err(unknown()),
        }
    };
    match family {
        "tilepro64" if size.is_empty() => Ok(tilepro64()),
        "xeon-e5-2650" if size.is_empty() => Ok(super::mencagli::sandy_bridge()),
        "xeon-e5-2660" if size.is_empty() => Ok(super::cla::sandy_bridge()),
        "xeon-phi-5110p" if size.is_empty() => Ok(super::cla::xeon_phi()),
        "mesh" => pair().map(|(width, height)| mesh(width, height)),
        "packages" => pair().map(|(count, cores)| packages(count, cores)),
        "ring" => number(size).map(ring),
        "bus" => number(size).map(bus),
        _ => Err(unknown()),
    }
}

/// The greatest number of cores of a machine by name.
const CORES_MAX: usize = 65_536;

/// No machine has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no machine of parts is called {name:?}: there are tilepro64, xeon-e5-2650, xeon-e5-2660, xeon-phi-5110p, mesh:WxH, ring:N, bus:N and packages:PxN, up to 65536 cores"
)]
pub struct UnknownMachine {
    /// The name that was asked for.
    pub name: String,
}
