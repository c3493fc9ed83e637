//! The machines of Kaestle and others, *Machine-Aware Atomic Broadcast Trees for Multicores*, OSDI 2016, Table 1,
//! beside the two that [`super`] has from CLa: I SB 2x8x2 is `sandybridge-2x8`, I KNC 1x60x4 `xeonphi-knc-60x4`.
//!
//! Costs are medians, by class of proximity, of the pairwise measurements that the authors published with libsmelt
//! (`Simulator/graphs/measurements_nosymlink`, MIT licence), in cycles; where they published none there are none
//! here. A class that a machine does not have repeats the one before it.

use super::entry::Builtin;
use crate::classes::ClassCosts;
use crate::levels::Levels;
use crate::pairwise::Unit;

const SOURCE: &str = "Kaestle and others, Machine-Aware Atomic Broadcast Trees for Multicores, OSDI 2016, Table 1; \
                      medians of the pairwise measurements of libsmelt";
const NO_COSTS: &str =
    "Kaestle and others, Machine-Aware Atomic Broadcast Trees for Multicores, OSDI 2016, Table 1";

const fn levels(package: u32, numa: u32, core: u32, pu: u32) -> Levels {
    Levels {
        package,
        numa,
        core,
        pu,
    }
}

const fn measured(
    (name, cpu): (&'static str, &'static str),
    levels: Levels,
    send: [f64; 4],
    receive: [f64; 4],
) -> Builtin {
    let unit = Unit::Cycles;
    Builtin {
        name,
        cpu,
        levels,
        costs: Some(ClassCosts {
            unit,
            send,
            receive,
        }),
        lines: None,
        source: SOURCE,
    }
}

const fn unmeasured(name: &'static str, cpu: &'static str, levels: Levels) -> Builtin {
    Builtin {
        name,
        cpu,
        levels,
        costs: None,
        lines: None,
        source: NO_COSTS,
    }
}

pub(super) const MACHINES: [Builtin; 9] = [
    measured(
        ("barcelona-8x4", "AMD Opteron 8350 (Barcelona), 2.00 GHz"),
        levels(8, 1, 4, 1),
        [336.0, 336.0, 336.0, 345.0],
        [311.0, 311.0, 311.0, 370.0],
    ),
    measured(
        (
            "bloomfield-2x4x2",
            "Intel Xeon L5520 (Bloomfield), 2.27 GHz",
        ),
        levels(2, 1, 4, 2),
        [9.0, 8.0, 8.0, 9.0],
        [7.0, 87.0, 87.0, 354.0],
    ),
    measured(
        ("istanbul-4x6", "AMD Opteron 8431 (Istanbul), 2.50 GHz"),
        levels(4, 1, 6, 1),
        [339.0, 339.0, 339.0, 344.0],
        [365.0, 365.0, 365.0, 464.0],
    ),
    measured(
        (
            "ivybridge-2x10",
            "Intel Xeon E5-2670 v2 (Ivy Bridge), 2.50 GHz, one thread per core",
        ),
        levels(2, 1, 10, 1),
        [62.0, 62.0, 62.0, 193.0],
        [221.0, 221.0, 221.0, 693.0],
    ),
    measured(
        (
            "magnycours-4x12",
            "AMD Opteron 6174 (Magny-Cours), 2.20 GHz",
        ),
        levels(4, 2, 6, 1),
        [281.0, 281.0, 285.0, 287.0],
        [332.0, 332.0, 353.0, 384.0],
    ),
    measured(
        (
            "nehalem-4x8",
            "Intel Xeon L7555 (Nehalem-EX), 1.87 GHz, one thread per core",
        ),
        levels(4, 1, 8, 1),
        [31.0, 31.0, 31.0, 32.0],
        [145.0, 145.0, 145.0, 666.0],
    ),
    measured(
        ("shanghai-4x4", "AMD Opteron 8380 (Shanghai), 2.50 GHz"),
        levels(4, 1, 4, 1),
        [244.0, 244.0, 244.0, 257.0],
        [95.0, 95.0, 95.0, 237.0],
    ),
    // Two threads share what is a core here, eight NUMA nodes (§3.2).
    unmeasured(
        "interlagos-4x4x2",
        "AMD Opteron 6378 (Interlagos), 2.40 GHz",
        levels(4, 2, 2, 2),
    ),
    unmeasured(
        "sandybridge-4x8",
        "Intel Xeon E5-4640 (Sandy Bridge), 2.40 GHz",
        levels(4, 1, 8, 2),
    ),
];
