//! Compares machines of several hosts with LogGOPSim, and with Mallon and others (*Scalable PGAS Collective Operations in
//! NUMA Clusters*): Table 2, the orders of Figures 3 to 6, and persistent trees (§3).

use crate::clusters::machines::System;
use crate::clusters::orders::{ORDERS, Order, Times};
use crate::clusters::published::{SIZES, TABLE_2};
use crate::clusters::runs::{Program, Shape, time_over, time_us, tree};
use crate::document::{Content, table};
use corecast_collectives::{PipelineSegments, Route, broadcast};
use corecast_model::cluster::Network;
use corecast_plan::patterns::{LevelShapes, knomial};
use corecast_plan::{Operation, reroot};
use corecast_sim::cluster::{
    ClusterMachine, HostFabric, HostParts, HostsOptions, NetworkRules, run_hosts,
};
use corecast_wire::Fabric;
use std::rc::Rc;

/// KiB that a rank of a simulated machine of 4,096 may take.
pub const KIB_OF_A_RANK_MAX: u64 = 64;

/// The most KiB that this process has had in memory, where the system tells.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// KiB that each of 4,096 ranks takes for a broadcast of 1 MB on JuRoPA, if no greater run was before.
pub fn kib_of_a_rank() -> Option<u64> {
    let before = peak_kib()?;
    time_us(System::Juropa, 4096, PULL, 1 << 20);
    Some((peak_kib()? - before) / 4096)
}

/// NUMACol's basic pull algorithm.
pub const PULL: Program = Program::Broadcast(
    Shape::Levels(LevelShapes::BINOMIAL),
    PipelineSegments::Whole,
);

/// Pull with fragments of a fixed size and flat trees inside of regions.
pub const PULL_F_F: Program = Program::Broadcast(
    Shape::Levels(LevelShapes::FLAT_INSIDE),
    PipelineSegments::FIXED,
);

/// A ratio of Table 2.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    /// The system.
    pub system: System,
    /// Bytes of a message.
    pub bytes: usize,
    /// Time of Pull in microseconds, measured and simulated.
    pub pull: (f64, f64),
    /// Time of Pull-f-f in microseconds, measured and simulated.
    pub pull_f_f: (f64, f64),
}

impl Ratio {
    /// How many times as fast Pull-f-f is, measured.
    pub fn measured(self) -> f64 {
        self.pull.0 / self.pull_f_f.0
    }

    /// How many times as fast Pull-f-f is, simulated.
    pub fn simulated(self) -> f64 {
        self.pull.1 / self.pull_f_f.1
    }

    /// Whether the measured ratio is so far from 1 that its size counts, not only its sign.
    pub fn counts(self) -> bool {
        !(0.85..1.2).contains(&self.measured())
    }

    /// Whether both are on one side of 1.
    pub fn same_sign(self) -> bool {
        (self.measured() > 1.0) == (self.simulated() > 1.0)
    }

    /// The simulated ratio over the measured one.
    pub fn error(self) -> f64 {
        self.simulated() / self.measured()
    }
}

/// How far a ratio may be from the measured one.
pub const BAND: f64 = 1.25;

/// The time of Pull-f-f. On JuRoPA 16 MB are 2.1 million loans, so that time is that of 2 MB, and 14 times the time by
/// which 2 MB take longer than 1 MB: fragments flow steadily.
fn pull_f_f(system: System, bytes: usize) -> f64 {
    let time = |bytes| time_us(system, system.cores_max(), PULL_F_F, bytes);
    match (system, bytes) {
        (System::Juropa, 16_777_216) => {
            let (one, two) = (time(1 << 20), time(2 << 20));
            two + 14.0 * (two - one)
        }
        _ => time(bytes),
    }
}

/// The ratio of Table 2 of a system at one of [`SIZES`].
pub fn ratio(system: System, at: usize) -> Ratio {
    let (_, pull, f_f) = TABLE_2[System::ALL
        .iter()
        .position(|&one| one == system)
        .expect("one of them")];
    let (n, bytes) = (system.cores_max(), SIZES[at]);
    // The paper's bandwidth is that of all ranks, in MB/s, so bytes over it are microseconds.
    let measured = |bandwidth: f64| bytes as f64 * n as f64 / bandwidth;
    Ratio {
        system,
        bytes,
        pull: (measured(pull[at]), time_us(system, n, PULL, bytes)),
        pull_f_f: (measured(f_f[at]), pull_f_f(system, bytes)),
    }
}

/// Bytes in the paper's units.
fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KB", bytes >> 10),
        _ => format!("{} MB", bytes >> 20),
    }
}

/// The time of a binomial broadcast in messages over hosts of one core, as LogGOPSim has it, in microseconds.
pub fn binomial_us(hosts: usize, bytes: usize) -> f64 {
    let grain = (bytes / 1024).max(1);
    let machine = ClusterMachine {
        name: "LogGP".to_owned(),
        hosts,
        regions: 1,
        cores: 1,
        cards: vec![0],
        network: Network {
            latency_ns: 1500.0,
            overhead_ns: 500.0,
            gap_ns: 0.0,
            byte_ns: 1.0,
        },
        rules: NetworkRules {
            message_bytes: bytes,
            turn_bytes: bytes,
            remote_access: true,
        },
        parts: HostParts {
            near_ns: 0.0,
            far_ns: 0.0,
            call_ns: 0.0,
            copy_byte_ns: 0.0,
            memory_byte_ns: 0.0,
            port_byte_ns: 0.0,
            combine_byte_ns: 0.0,
            turn_bytes: bytes,
        },
    };
    let routes = Rc::new(Route::all(&knomial(hosts, 0, 2)));
    let body = move |mut fabric: HostFabric<'_>| {
        let mut data = vec![0; bytes / grain];
        let route = &routes[fabric.rank()];
        let Ok(()) = broadcast::tree(&mut fabric, route, 0, &mut data);
        fabric.now()
    };
    let cores: Vec<usize> = (0..hosts).collect();
    let options = HostsOptions {
        grain,
        ..HostsOptions::default()
    };
    let found = run_hosts(&machine, &cores, &options, body).expect("a machine that makes sense");
    found.results.into_iter().fold(0.0, f64::max) / 1000.0
}

/// Nanoseconds in which a tree of three levels is built for each of its members: 104, 113 and 124 for 64, 512 and 4,096
/// members of JuRoPA, the least of many (2-core KVM guest, AMD EPYC, 26 November 2026, `levels_at` in a release build).
const BUILD_NS: f64 = 115.0;

/// A broadcast of 16 KiB from the last rank: over a tree that is built for that root, and over the persistent one.
#[derive(Clone, Copy, Debug)]
pub struct Persistent {
    /// Number of ranks.
    pub n: usize,
    /// The tree of the call, once it is built.
    pub own: f64,
    /// Building it.
    pub build: f64,
    /// The persistent tree re-hung at the root.
    pub rehung: f64,
    /// A copy to the root of the persistent tree.
    pub copied: f64,
}

/// The times of [`Persistent`] on the first `n` cores of JuRoPA, in microseconds.
pub fn persistent(n: usize) -> Persistent {
    let machine = System::Juropa.machine(n);
    let (bytes, root) = (16 << 10, n - 1);
    let shape = Shape::Levels(LevelShapes::BINOMIAL);
    let kept = tree(&machine, n, shape);
    let places = crate::clusters::runs::places(&machine, n);
    let own = corecast_plan::patterns::levels_at(&places, LevelShapes::BINOMIAL, root);
    let time = |tree| time_over(&machine, n, (PULL, Some(tree)), bytes);
    Persistent {
        n,
        own: time(&own),
        build: n as f64 * BUILD_NS / 1000.0,
        rehung: time(&reroot::rehung(&kept, root, Operation::Broadcast)),
        copied: time(&reroot::copied(&kept, root, Operation::Broadcast)),
    }
}

/// The numbers of ranks for which persistent trees are compared.
const RANKS: [usize; 6] = [8, 32, 128, 512, 2048, 4096];

/// How an order comes out: by more than 0.2 % or not.
fn outcome(order: &Order, ratio: f64) -> String {
    match ratio {
        1.002.. => "yes".to_owned(),
        0.998.. => format!("tie: {}", order.why_not),
        _ => format!("no: {}", order.why_not),
    }
}

/// The section of docs/validation.md.
pub fn section() -> Content {
    let exact = [(256, "33.1 µs"), (64 << 10, "816 µs"), (1 << 20, "12.6 ms")];
    let exact = exact.map(|(bytes, published)| {
        let found = binomial_us(4096, bytes);
        [size(bytes), published.to_owned(), format!("{found:.3} µs")]
    });
    let all = || {
        System::ALL
            .into_iter()
            .flat_map(|system| (0..SIZES.len()).map(move |at| ratio(system, at)))
    };
    let ratios: Vec<Ratio> = all().collect();
    let rows = ratios.iter().map(|one| {
        let time = |(measured, found): (f64, f64)| format!("{measured:.0} / {found:.0}");
        [
            one.system.name().to_owned(),
            size(one.bytes),
            time(one.pull),
            time(one.pull_f_f),
            format!("{:.3}", one.measured()),
            format!("{:.3}", one.simulated()),
            match (one.counts(), one.same_sign()) {
                (true, _) => format!("{:.2}", one.error()),
                (false, true) => "same sign".to_owned(),
                (false, false) => "other sign".to_owned(),
            },
        ]
    });
    let rows: Vec<[String; 7]> = rows.collect();
    let far: Vec<&Ratio> = ratios.iter().filter(|one| one.counts()).collect();
    let inside = far
        .iter()
        .filter(|one| (1.0 / BAND..BAND).contains(&one.error()))
        .count();
    let near = ratios.len() - far.len();
    let signs = ratios
        .iter()
        .filter(|one| !one.counts() && one.same_sign())
        .count();
    let mut times = Times::default();
    let orders: Vec<(&Order, f64)> = ORDERS
        .iter()
        .map(|one| (one, one.ratio(&mut times)))
        .collect();
    let good = orders.iter().filter(|(_, ratio)| *ratio > 1.002).count();
    let order_rows = orders.iter().map(|(one, ratio)| {
        [
            one.figure.to_owned(),
            format!(
                "{}, {} cores, {}",
                one.system.name(),
                one.cores,
                size(one.bytes)
            ),
            one.faster.name.to_owned(),
            one.slower.name.to_owned(),
            format!("{ratio:.3}"),
            outcome(one, *ratio),
        ]
    });
    let order_rows: Vec<[String; 6]> = order_rows.collect();
    let trees = RANKS.map(persistent).map(|one| {
        let built = one.own + one.build;
        let cells = [one.own, one.build, built, one.rehung, one.copied];
        let [own, build, both, rehung, copied] = cells.map(|time| format!("{time:.1}"));
        let faster = match built < one.rehung.min(one.copied) {
            true => "built",
            false => "persistent",
        };
        [
            one.n.to_string(),
            own,
            build,
            both,
            rehung,
            copied,
            faster.to_owned(),
        ]
    });
    format!(
        "\
[Machines of several hosts](simulator.md#clusters), with LogGP between them. A binomial broadcast over 4,096 hosts, L 1.5 µs,
o 0.5 µs, G 1 ns/B, by LogGOPSim and here:

{}
The five clusters of Mallon and others (NUMACol) are in `crates/validation/src/clusters/machines.rs`, which says where each
cost is from. Every run is a barrier, the collective and a barrier, as in the paper's benchmark.

**Table 2**: times of broadcasts on all cores, µs, measured / simulated, and how many times as fast Pull-f-f is as Pull. Of the
{} ratios of at least 1.2 or at most 0.85, {inside} are within a factor of {BAND} of the measured one (*error*: simulated over
measured), SVG's Ethernet, on which fragments lose, among them. Of the other {near}, {signs} have the sign of the measured one.

{}
- *Superdome, 16 MB*: measured, Pull takes less time for each byte there than with 1 MB (12.5 and 17.3 ms/MB), as on no other
  machine. Here a byte of a long message always takes the same time. What may differ is where lines come
  from: a core's cache has 1 MB and not 16 MB, and there are no caches in these hosts.
- *Other signs*: at 256 B and 4 KB there is one fragment, so that both algorithms differ in the tree inside of a region alone.
  Measured ratios are 0.976 to 1.044 there, of both signs on Finis Terrae, JUDGE and JuRoPA; simulated ones are within 4 % of
  them.
- *JuRoPA, 16 MB*, Pull-f-f: 2 MB, and 14 times what 2 MB take beyond 1 MB, since 2.1 million loans take long.

**Figures 3 to 6** have no numbers in the text; §4.2 says which algorithm is faster. {good} of {} statements come out. NUMACol's
trees are `levels`, BerkeleyCol is a binomial tree over the ranks (medium messages with their data, long ones by loans), MTUCol
is the root and all others. *Ratio* is the slower one's time over the faster one's. How far BerkeleyCol falls behind on many
nodes (61 and 160 times on Finis Terrae and JuRoPA) is that of its implementation, which the paper does not explain.

{}
**Persistent trees** (§3): a broadcast of 16 KiB from the last rank of JuRoPA, µs: over a tree for that root, which each rank
builds first ({BUILD_NS:.0} ns for each member), and over the tree from rank 0 that is there already, re-hung at the root or with a
copy to rank 0. As in the paper, building is faster for few ranks.

{}",
        table(["bytes", "LogGOPSim", "here"], exact),
        far.len(),
        table(
            ["system", "size", "Pull", "Pull-f-f", "measured", "simulated", "error"],
            rows
        ),
        orders.len(),
        table(
            ["figure", "where", "faster", "slower", "ratio", "as in the paper"],
            order_rows
        ),
        table(
            ["ranks", "own tree", "build", "both", "re-hung", "copied", "faster"],
            trees
        ),
    )
    .into()
}
