//! Machines of our days, from the table of medians in the README of *core-to-core-latency* (N. Viennot and
//! contributors, <https://github.com/nviennot/core-to-core-latency>, commit 0dddf509), in nanoseconds.
//!
//! Measured there: half of a round of compare-exchanges between two threads, which is one transfer of a line that the
//! other one has modified. A message is two of them: the sender takes its slot back, the receiver fetches it. So both
//! costs are that median. Store buffers, which hide some of a send, are not in it.
//!
//! Cores that share a last cache are written as a NUMA node, one thread per core. A class that a machine does not
//! have repeats the one before it.

use super::entry::Builtin;
use crate::classes::ClassCosts;
use crate::levels::Levels;
use crate::pairwise::Unit;

const fn machine(
    name: &'static str,
    cpu: &'static str,
    [package, numa, core]: [u32; 3],
    [node, inside, outside]: [f64; 3],
) -> Builtin {
    let both = [node, node, inside, outside];
    Builtin {
        name,
        cpu,
        levels: Levels {
            package,
            numa,
            core,
            pu: 1,
        },
        costs: Some(ClassCosts {
            unit: Unit::Nanoseconds,
            send: both,
            receive: both,
        }),
        lines: None,
        source: "core-to-core-latency by N. Viennot and contributors, README at commit 0dddf509, Tables of medians, \
                 github.com/nviennot/core-to-core-latency; cores that share a cache as NUMA nodes",
    }
}

pub(super) const MACHINES: [Builtin; 5] = [
    machine(
        "epyc-7r13-2x48",
        "AMD EPYC 7R13 (Milan), 2021, one thread per core",
        [2, 6, 8],
        [23.0, 107.0, 197.0],
    ),
    machine(
        "icelake-8375c-2x32",
        "Intel Xeon Platinum 8375C (Ice Lake), 2.90 GHz, 2021, one thread per core",
        [2, 1, 32],
        [51.0, 51.0, 108.0],
    ),
    machine(
        "cascadelake-6242-2x16",
        "Intel Xeon Gold 6242 (Cascade Lake), 2019, one thread per core",
        [2, 1, 16],
        [48.0, 48.0, 136.0],
    ),
    machine(
        "ryzen-5950x-16",
        "AMD Ryzen 9 5950X (Zen 3), 3.40 GHz, 2020, one thread per core",
        [1, 2, 8],
        [17.0, 85.0, 85.0],
    ),
    machine(
        "graviton3-64",
        "AWS Graviton3 (Arm Neoverse), 2021",
        [1, 1, 64],
        [46.0, 46.0, 46.0],
    ),
];
