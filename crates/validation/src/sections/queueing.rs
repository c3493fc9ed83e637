//! Compares contention at one server with queueing theory: M/D/1 (Mencagli and others, §5 and Fig. 3).
//!
//! Clients ask for lines of one memory at random times, however long the last answer takes. All else on the way has
//! room, so requests wait for the memory only.

use crate::document::{Content, percent, table};
use corecast_draw::Rgb;
use corecast_draw::plot::{self, Curve, Labels, Panel, Pen};
use corecast_sim::engine::{Cpu, RunOptions, Setup, run};
use corecast_sim::machine::{SimMachine, known};
use corecast_sim::memory::LineId;

/// The latency without load, in cycles: 14 to know that the access is a miss, 10 each way, 150 for the memory.
pub const BASE: f64 = 14.0 + 20.0 + 150.0;

/// Clients that each make a request every `interval` cycles on average, to a memory that serves one in `service`
/// cycles.
#[derive(Clone, Copy, Debug)]
pub struct OfferedLoad {
    /// Number of clients.
    pub clients: usize,
    /// Cycles for which the memory serves one request.
    pub service: f64,
    /// Mean cycles between two requests of a client.
    pub interval: f64,
}

impl OfferedLoad {
    /// The part of the time that the memory is busy.
    pub fn share(self) -> f64 {
        self.clients as f64 * self.service / self.interval
    }
}

/// Service and interval of three memories, in cycles.
const RATES: [(f64, f64); 3] = [(10.0, 200.0), (20.0, 400.0), (50.0, 2000.0)];

/// The loads of the table: 4 to 32 clients, utilisations of 0.2 to 0.8.
pub fn loads() -> impl Iterator<Item = OfferedLoad> {
    let pairs = RATES
        .into_iter()
        .flat_map(|rate| [0.2, 0.5, 0.8].map(|share| (rate, share)));
    pairs.map(|((service, interval), share)| OfferedLoad {
        clients: (share * interval / service) as usize,
        service,
        interval,
    })
}

/// A machine on which requests wait for the memory only.
fn machine(clients: usize, service: f64) -> SimMachine {
    let mut machine = known::packages(1, clients);
    machine.costs.shared = 0.0;
    machine.costs.home = 0.0;
    machine.costs.memory_service = service;
    machine
}

/// The simulated mean wait at the memory, and the part of the time that the memory was busy.
pub fn wait(load: OfferedLoad) -> (f64, f64) {
    let OfferedLoad {
        clients,
        service,
        interval,
    } = load;
    let requests = 120_000 / clients;
    let setup = |setup: &mut Setup<'_>| setup.allocate(0, requests * clients);
    let body = move |cpu: &mut Cpu<'_>, &first: &LineId| {
        let mut draw = fastrand::Rng::with_seed(cpu.rank() as u64 + 1);
        for request in 0..requests {
            cpu.compute(-(1.0 - draw.f64()).ln() * interval);
            cpu.prefetch(first.offset(cpu.rank() * requests + request));
        }
        cpu.flush();
    };
    let cores: Vec<usize> = (0..clients).collect();
    let options = RunOptions::default();
    let outcome = run(&machine(clients, service), &cores, &options, setup, body).expect("an end");
    let mut servers = outcome.servers.iter();
    let memory = servers
        .find(|server| server.name == "memory 0")
        .expect("it was asked");
    assert_eq!(memory.served as usize, requests * clients);
    (memory.wait_mean, memory.utilisation)
}

/// The mean wait of M/D/1: ρ T / 2 (1 − ρ).
pub fn in_theory(load: OfferedLoad) -> f64 {
    let share = load.share();
    share * load.service / (2.0 * (1.0 - share))
}

const THEORY: Pen = Pen::Line(Rgb(43, 108, 176));
const FOUND: Pen = Pen::Points(Rgb(221, 107, 32));

/// Fig. 3: latency under load as a multiple of the latency without load, for memories of three speeds.
fn picture() -> String {
    let panel = |service: f64| {
        let load = |clients| OfferedLoad {
            clients,
            service,
            interval: 20.0 * service,
        };
        let curve = |pen, waits: fn(OfferedLoad) -> f64| {
            let loads = (2..=18).map(load);
            let multiple = |load: OfferedLoad| (load.clients as f64, 1.0 + waits(load) / BASE);
            Curve {
                pen,
                points: loads.map(multiple).collect(),
            }
        };
        Panel {
            title: format!("service {service}, each every {} cycles", 20.0 * service),
            band: None,
            curves: vec![curve(THEORY, in_theory), curve(FOUND, |load| wait(load).0)],
        }
    };
    let labels = Labels {
        title: "Latency under load as a multiple of that without",
        legend: &[(THEORY, "M/D/1"), (FOUND, "simulated")],
        x: "clients",
        y: "multiple",
    };
    plot::panels(&labels, 3, &[20.0, 50.0, 100.0].map(panel))
}

/// The section of docs/validation.md.
pub fn section() -> Content {
    let found: Vec<(OfferedLoad, f64)> = loads().map(|load| (load, BASE + wait(load).0)).collect();
    let rows = found.iter().map(|&(load, found)| {
        let theory = BASE + in_theory(load);
        [
            load.clients.to_string(),
            format!("{:.0}", load.service),
            format!("{:.0}", load.interval),
            format!("{:.2}", load.share()),
            format!("{theory:.1}"),
            format!("{found:.1}"),
            percent(found, theory),
        ]
    });
    let head = [
        "clients",
        "service",
        "interval",
        "load",
        "M/D/1",
        "simulated",
        "error",
    ];
    let text = format!(
        "\
Latency of a memory under load, cycles: clients that ask at random times, each every *interval* on average, of a
memory that serves one request for *service* cycles. Without load it is {BASE}.
`crates/validation/tests/it/queueing.rs` holds 5 %, and 8 % for the waiting alone. The table shows single loads of lines
that no cache has, and no collective.

{}
Fig. 3 of Mencagli and others, drawn for memories that serve a request in 20, 50 and 100 cycles:

![latency under load](validation/queueing.svg)",
        table(head, rows)
    );
    Content::Made {
        text,
        pictures: vec![("queueing.svg", picture())],
    }
}
