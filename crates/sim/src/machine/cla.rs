//! The two machines of Ramos and Hoefler (CLa, TPDS 2016) in parts, fitted to their Tables 1 to 4.
//!
//! The tables have sums: the time of a line from a given source. They do not tell how a sum splits among parts. Where
//! that matters, this is the rule: the way to the agent that puts requests in order is short, because a request that
//! waits there has it behind it; what has to pass between two owners of a line is long, as long as the tables allow.
//!
//! | part, ns | Sandy Bridge | Xeon Phi | from |
//! | --- | --- | --- | --- |
//! | `l1`, `store`, `poll`: own cache | 2.3 | 8.6 | R_L, Table 1 |
//! | `l2`: to know that it is a miss | 5.5 | 8.6 | 12 cycles; R_L |
//! | way on the ring, on average | 1.3 | 14.2 | 3 stops; 15 hops (§2.1.2), a cycle each |
//! | shared cache | 1 | – | hardly any contention (§2.2.2) |
//! | home | 2 | 36 | home + way + snoop = c of Table 2 on Xeon Phi |
//! | `snoop`, `invalidate` | 1 | 6 | see `home` |
//! | `fill`: from arrival to use | 25.9 | 142.6 | what is left of R_R, Table 1 |
//! | `memory` | 17.6 | 47.9 | what is left of R_I |
//! | way from the home agent | 15.4 | – | what is left of R_Q |
//! | link between packages | 18.5 | – | half of R_QI − R_I |
//! | a line's time on that link | 3 | – | c, Table 3 |
//! | `copy_line` | 11.1 | 76 | o, Tables 3 and 4 |
//! | `lone`: lines before a stream | 1 | 8 | q, Tables 3 and 4, see below |
//! | `atomic` | 9.1 | 31.4 | not in the tables: 20 cycles; as long as way, `l2` and `l1` |
//! | a memory's time for a line | 1.25 | 1.6 | not in the tables: 51.2 and 40 GB/s |
//!
//! The intercepts q of Tables 3 and 4 are those of half a ping-pong (Equation 1): a copy, and the fetch by the core
//! that polls its last line. If w lines come one after another and the others in a stream, q = R_L + R + w·(R − o).
//! That gives w = 1.1 in a package of Sandy Bridge, 1.0 between two, 8.0 on Xeon Phi.
//!
//! On Sandy Bridge R_R is what the shared cache gives without asking; a line that a core has modified takes 2.3 ns
//! more, since it asks that core first. On Xeon Phi lines are spread over all directories by their address, and the
//! average latency does not depend on which cores are near each other (Fig. 3), so there is one latency for all.

use super::links::{Hop, Inner, PackageLink};
use super::parts::{CorePlace, Home, PartCosts, PartSizes, Protocol, SimMachine};
use super::plain::{in_packages, plain, spot};

/// Two packages of eight cores, 2.2 GHz: Intel Xeon E5-2660 (Sandy Bridge).
///
/// # Examples
///
/// ```
/// use corecast_sim::machine::cla;
///
/// assert_eq!(cla::sandy_bridge().cores.len(), 16);
/// cla::sandy_bridge().check()?;
/// # Ok::<(), corecast_sim::machine::SimMachineError>(())
/// ```
pub fn sandy_bridge() -> SimMachine {
    const CORES: usize = 8;
    /// Stop of the home agent; 0 is the shared cache and the way out, the others are cores.
    const AGENT: usize = CORES + 1;
    let (stops, ring, agent) = (CORES + 2, 1.3, 15.4);
    let way = |(a, b): (usize, usize)| match (a, b) {
        _ if a == b => 0.0,
        (0, AGENT) => 0.0,
        (AGENT, 0) => agent,
        (AGENT, _) => agent + ring,
        _ => ring,
    };
    let pairs = (0..stops).flat_map(|a| (0..stops).map(move |b| (a, b)));
    let inner = Inner::Crossbar {
        stops: stops as u32,
        latency: pairs.map(way).collect(),
    };
    let mut machine = in_packages("xeon-e5-2660".to_owned(), inner, 2, CORES, AGENT);
    machine.unit = "ns".to_owned();
    machine.links = vec![PackageLink {
        a: 0,
        b: 1,
        hop: Hop {
            latency: 18.5,
            control: 0.4,
            data: 3.0,
        },
    }];
    machine.costs = PartCosts {
        l1: 2.3,
        l2: 5.5,
        store: 2.3,
        atomic: 9.1,
        snoop: 1.0,
        invalidate: 1.0,
        fill: 25.9,
        shared: 1.0,
        home: 2.0,
        memory: 17.6,
        memory_service: 1.25,
        poll: 2.3,
        notify: 10.0,
        copy_line: 11.1,
        combine_bytes: 32.0,
        call: 4.5,
    };
    machine.sizes = PartSizes {
        shared: 20 << 14,
        l2: 4096,
        ..machine.sizes
    };
    machine
}

/// Sixty cores on a ring, 1.056 GHz: Intel Xeon Phi 5110P (Knights Corner), one thread on each core.
///
/// Its coherence (§2.1.2, *globally owned, locally shared*) is MOESI here.
///
/// # Examples
///
/// ```
/// use corecast_sim::machine::cla;
///
/// assert_eq!(cla::xeon_phi().cores.len(), 60);
/// cla::xeon_phi().check()?;
/// # Ok::<(), corecast_sim::machine::SimMachineError>(())
/// ```
pub fn xeon_phi() -> SimMachine {
    const CORES: usize = 60;
    const MEMORIES: usize = 8;
    // Cores, homes and memories have stops of their own, so that every message takes the average way on the ring.
    let stops = 2 * CORES + MEMORIES;
    let inner = Inner::Crossbar {
        stops: stops as u32,
        latency: vec![14.2],
    };
    let mut machine = plain("xeon-phi-5110p".to_owned(), inner);
    machine.unit = "ns".to_owned();
    machine.protocol = Protocol::Moesi;
    machine.hashed = true;
    for core in 0..CORES {
        machine.cores.push(CorePlace {
            spot: spot(0, core),
            group: None,
            home: core as u32,
        });
        machine.homes.push(Home {
            spot: spot(0, CORES + core),
            memory: (core % MEMORIES) as u32,
        });
    }
    let memories = 2 * CORES..stops;
    machine.memories = memories.map(|stop| spot(0, stop)).collect();
    machine.costs = PartCosts {
        l1: 8.6,
        l2: 8.6,
        store: 8.6,
        atomic: 31.4,
        snoop: 6.0,
        invalidate: 6.0,
        fill: 142.6,
        shared: 0.0,
        home: 36.0,
        memory: 47.9,
        memory_service: 1.6,
        poll: 8.6,
        notify: 20.0,
        copy_line: 76.0,
        combine_bytes: 64.0,
        call: 20.0,
    };
    machine.sizes = PartSizes {
        l1: 512,
        l2: 8192,
        shared: 0,
        inclusive: false,
        lone: 8,
        ..machine.sizes
    };
    machine
}
