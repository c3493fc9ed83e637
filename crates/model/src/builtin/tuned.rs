//! The machines of Nishtala and Yelick, *Optimizing Collective Communication on Multicores*, HotPar 2009, Table 1:
//! cores, threads and sockets. The paper has times of whole operations and no costs of messages.

use super::entry::Builtin;
use crate::levels::Levels;

const fn machine(name: &'static str, cpu: &'static str, levels: Levels) -> Builtin {
    Builtin {
        name,
        cpu,
        levels,
        costs: None,
        lines: None,
        source: "Nishtala and Yelick, Optimizing Collective Communication on Multicores, HotPar 2009, Table 1",
    }
}

const fn levels(package: u32, core: u32, pu: u32) -> Levels {
    Levels {
        package,
        numa: 1,
        core,
        pu,
    }
}

pub(super) const MACHINES: [Builtin; 3] = [
    machine(
        "clovertown-2x4",
        "Intel Clovertown, 2.66 GHz",
        levels(2, 4, 1),
    ),
    machine(
        "barcelona-2.3ghz-8x4",
        "AMD Barcelona, 2.30 GHz",
        levels(8, 4, 1),
    ),
    machine("niagara2-4x8x8", "Sun Niagara2, 1.40 GHz", levels(4, 8, 8)),
];
