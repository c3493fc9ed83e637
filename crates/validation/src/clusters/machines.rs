//! The five machines, in parts and with their networks.
//!
//! Hosts, NUMA regions, cores, and the region of the card are those of §4.1. Costs are from these sources:
//!
//! | cost | Finis Terrae | Superdome | SVG | JUDGE | JuRoPA | source |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | L, µs | 3 | – | 50 | 1.5 | 1.5 | class of the network: InfiniBand DDR and QDR, TCP over Gigabit Ethernet |
//! | o, µs | 2.4 | – | 77 | 0.93 | 1.49 | fitted: Table 2, Pull, 256 B |
//! | G, ns/B | 1.02 | – | 7.1 | 0.397 | 0.37 | fitted: Table 2, Pull-f-f, 16 MB; SVG: Pull, 16 MB |
//! | a core's operation, µs | 2 | 2 | 0.02 | 0.02 | 0.02 | Itanium: an order of magnitude |
//! | a line near, far, ns | 250, 400 | 250, 7400 | 60, 130 | 50, 110 | 50, 110 | order of magnitude; Superdome, far: fitted: Table 2, Pull, 256 B |
//! | a core copies, GB/s | 1 | 1 | 2.5 | 2.5 | 2.5 | fitted: Table 2, Pull, 64 KB, of Finis Terrae and of JuRoPA |
//! | a region's memory, GB/s | 4 | 4 | 5 | 8.5 | 8.5 | a third of the peak of its channels |
//! | a region's port, GB/s | 0.78 | 0.78 | 6 | 11 | 11 | HyperTransport 3 and QPI; cells: fitted: Table 2, Pull-f-f, 16 MB, of Superdome |
//!
//! Of each pair of entries at most one is fitted to, so every ratio of Table 2 is a prediction. One number is for all
//! machines: a card goes on with the next borrower after 256 KiB. With fewer bytes, data of 64 KB would take much longer
//! than measured, with more bytes data of 1 MB much less. On SVG cards do not read memory by themselves (§4.1).

use corecast_model::cluster::Network;
use corecast_sim::cluster::{ClusterMachine, HostParts, NetworkRules};

/// A machine of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum System {
    /// Finis Terrae.
    FinisTerrae,
    /// HP Integrity Superdome.
    Superdome,
    /// SVG 2011.
    Svg,
    /// JUDGE.
    JulichDedicated,
    /// JuRoPA.
    Juropa,
}

impl System {
    /// All of them, in the order of Table 2.
    pub const ALL: [Self; 5] = [
        Self::FinisTerrae,
        Self::Superdome,
        Self::Svg,
        Self::JulichDedicated,
        Self::Juropa,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::FinisTerrae => "Finis Terrae",
            Self::Superdome => "Superdome",
            Self::Svg => "SVG",
            Self::JulichDedicated => "JUDGE",
            Self::Juropa => "JuRoPA",
        }
    }

    /// The greatest number of cores in the paper.
    pub fn cores_max(self) -> usize {
        match self {
            Self::FinisTerrae => 1024,
            Self::Superdome => 128,
            Self::Svg => 192,
            Self::JulichDedicated => 648,
            Self::Juropa => 4096,
        }
    }

    /// Regions of a host, and cores of a region.
    pub fn shape(self) -> (usize, usize) {
        match self {
            Self::FinisTerrae => (2, 8),
            Self::Superdome => (16, 8),
            Self::Svg => (4, 6),
            Self::JulichDedicated => (2, 6),
            Self::Juropa => (2, 4),
        }
    }

    /// The machine with as many hosts as `cores` fill.
    pub fn machine(self, cores: usize) -> ClusterMachine {
        let (regions, in_region) = self.shape();
        let network = |latency_ns, overhead_ns, byte_ns| Network {
            latency_ns,
            overhead_ns,
            gap_ns: 0.0,
            byte_ns,
        };
        let none = network(0.0, 0.0, 0.0);
        let (network, cards) = match self {
            Self::FinisTerrae => (network(3e3, 2.4e3, 1.02), vec![0]),
            Self::Superdome => (none, Vec::new()),
            Self::Svg => (network(50e3, 77e3, 7.1), vec![0]),
            Self::JulichDedicated => (network(1.5e3, 0.93e3, 0.397), vec![0]),
            Self::Juropa => (network(1.5e3, 1.49e3, 0.37), vec![0]),
        };
        let parts = |call_ns, lines: (f64, f64), memory: f64, copy: f64, port: f64| HostParts {
            near_ns: lines.0,
            far_ns: lines.1,
            call_ns,
            copy_byte_ns: 1.0 / copy,
            memory_byte_ns: 1.0 / memory,
            port_byte_ns: 1.0 / port,
            combine_byte_ns: 0.25,
            turn_bytes: 32 << 10,
        };
        let xeon = parts(20.0, (50.0, 110.0), 8.5, 2.5, 11.0);
        let parts = match self {
            Self::FinisTerrae => parts(2000.0, (250.0, 400.0), 4.0, 1.0, 0.78),
            Self::Superdome => parts(2000.0, (250.0, 7400.0), 4.0, 1.0, 0.78),
            Self::Svg => parts(20.0, (60.0, 130.0), 5.0, 2.5, 6.0),
            Self::JulichDedicated | Self::Juropa => xeon,
        };
        ClusterMachine {
            name: self.name().to_owned(),
            hosts: cores.div_ceil(regions * in_region),
            regions,
            cores: in_region,
            cards,
            network,
            rules: NetworkRules {
                message_bytes: 8 << 10,
                turn_bytes: 256 << 10,
                remote_access: self != Self::Svg,
            },
            parts,
        }
    }
}
