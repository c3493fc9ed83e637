//! The Intel machine of Mencagli and others (*The Home-Forwarding Mechanism*) in parts, fitted to their Tables 1 and
//! 3; their TILEPro64 is [`super::known::tilepro64`].
//!
//! | part, cycles | value | from |
//! | --- | --- | --- |
//! | `l1`, `l2` | 6, 12 | local loads, Table 1 |
//! | `store` | 9 | a local store to a line that no other core has, Table 3 |
//! | ways, shared cache, `fill` | 4, 5, 14 | 39 for a line of the shared cache, with `l2` and two ways |
//! | `snoop` | 56 | 90 (exclusive) to 108 (modified) from a core of the chip: 99 |
//! | `invalidate` | 38 | 80 to 83 for a local store to a shared line |
//! | home, memory | 56, 90 | 185 for a line from memory |
//! | link | 47.5 | 280 from the other chip's memory; 195 from its cache then comes out |
//!
//! The parts treat a line that another core has modified and one that it has exclusively alike, and ask that core in
//! both cases. From the other chip both take 259 cycles, where loads were measured to take 304 to 312 and 195 to 205.

use super::links::{Hop, Inner, PackageLink};
use super::parts::{PartCosts, PartSizes, SimMachine};
use super::plain::in_packages;

/// Two packages of eight cores, 2.0 GHz: Intel Xeon E5-2650 (Sandy Bridge).
///
/// # Examples
///
/// ```
/// use corecast_sim::machine::mencagli;
///
/// assert_eq!(mencagli::sandy_bridge().cores.len(), 16);
/// mencagli::sandy_bridge().check()?;
/// # Ok::<(), corecast_sim::machine::SimMachineError>(())
/// ```
pub fn sandy_bridge() -> SimMachine {
    const CORES: usize = 8;
    /// Stop of the home agent; 0 is the shared cache and the way out, the others are cores.
    const AGENT: usize = CORES + 1;
    let stops = CORES + 2;
    let way = |(a, b): (usize, usize)| match (a, b) {
        _ if a == b => 0.0,
        (0, AGENT) | (AGENT, 0) => 0.0,
        _ => 4.0,
    };
    let pairs = (0..stops).flat_map(|a| (0..stops).map(move |b| (a, b)));
    let inner = Inner::Crossbar {
        stops: stops as u32,
        latency: pairs.map(way).collect(),
    };
    let mut machine = in_packages("xeon-e5-2650".to_owned(), inner, 2, CORES, AGENT);
    // A line's time on the link: 64 bytes at 16 GB/s a direction, as for QPI at 8 GT/s.
    machine.links = vec![PackageLink {
        a: 0,
        b: 1,
        hop: Hop {
            latency: 47.5,
            control: 1.0,
            data: 8.0,
        },
    }];
    machine.costs = PartCosts {
        l1: 6.0,
        l2: 12.0,
        store: 9.0,
        snoop: 56.0,
        invalidate: 38.0,
        fill: 14.0,
        shared: 5.0,
        home: 56.0,
        memory: 90.0,
        ..machine.costs
    };
    machine.sizes = PartSizes {
        shared: 20 << 14,
        l2: 4096,
        ..machine.sizes
    };
    machine
}
