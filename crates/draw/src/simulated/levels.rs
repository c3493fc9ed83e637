//! How busy the parts of several hosts were in a call: a row for each kind of part, on each level of the machine.

use corecast_sim::cluster::{ClusterMachine, HostPart};
use corecast_sim::engine::ServerUse;

/// What each level of a machine of several hosts had to do in a simulated call.
///
/// The levels are those between hosts, between the NUMA nodes of a host, and inside of these. Each kind of part has a row, and each
/// part a cell there, host by host.
///
/// # Examples
///
/// ```
/// use corecast_draw::{Screen, simulated::Levels};
/// use corecast_sim::cluster::ClusterMachine;
/// use corecast_sim::engine::ServerUse;
///
/// let file = corecast_model::synthetic("cluster:2 package:2 core:1")?;
/// let (machine, cores) = ClusterMachine::of_file(&file)?;
/// let name = "card 0 of host 1, out".to_owned();
/// let card = ServerUse { name, served: 3, utilisation: 0.5, wait_mean: 0.0 };
/// let levels = Levels::new(&machine, &cores, &[card]);
/// let text = levels.text(Screen::PLAIN);
/// assert!(text.contains("between hosts       cards, out  · █"), "{text}");
/// assert!(levels.svg("a call").starts_with("<svg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Levels {
    pub(super) rows: Vec<Row>,
}

/// The parts of one kind.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) level: &'static str,
    pub(super) kind: &'static str,
    /// Of each host the parts that it has.
    pub(super) hosts: Vec<Vec<Cell>>,
    /// The busiest of them, by place: host and part.
    pub(super) busiest: Option<(usize, usize)>,
}

/// A part.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) name: String,
    pub(super) served: u64,
    /// The part of the call for which it was busy.
    pub(super) busy: f64,
}

impl Row {
    /// `parts` are those of each host.
    fn new(
        (level, kind): (&'static str, &'static str),
        parts: Vec<Vec<HostPart>>,
        servers: &[(HostPart, &ServerUse)],
    ) -> Self {
        let cell = |part: HostPart| {
            let found = servers.iter().find(|(served, _)| *served == part);
            Cell {
                name: part.to_string(),
                served: found.map_or(0, |(_, server)| server.served),
                busy: found.map_or(0.0, |(_, server)| server.utilisation),
            }
        };
        let of_host = |parts: Vec<HostPart>| parts.into_iter().map(cell).collect();
        let hosts: Vec<Vec<Cell>> = parts.into_iter().map(of_host).collect();
        let places = hosts.iter().enumerate().flat_map(|(host, cells)| {
            let busy = cells.iter().enumerate().filter(|(_, cell)| cell.busy > 0.0);
            busy.map(move |(at, cell)| (cell.busy, (host, at)))
        });
        // The first one of equals.
        let busiest = places.reduce(|a, b| if b.0 > a.0 { b } else { a });
        Self {
            level,
            kind,
            hosts,
            busiest: busiest.map(|(_, place)| place),
        }
    }

    /// Which part of the busiest one's time a part was busy: 0 for one that had nothing to do.
    pub(super) fn share(&self, cell: &Cell) -> f64 {
        let most = self.busiest.map(|(host, at)| self.hosts[host][at].busy);
        most.map_or(0.0, |most| cell.busy / most)
    }

    /// The busiest part in words.
    pub(super) fn told(&self) -> String {
        match self.busiest {
            Some((host, at)) => {
                let cell = &self.hosts[host][at];
                format!("busiest {:.1} %: {}", 100.0 * cell.busy, cell.name)
            }
            None => "nothing to do".to_owned(),
        }
    }
}

impl Levels {
    /// The levels of `machine`, on which rank r ran on the r-th of the `cores`, from what its servers did.
    #[must_use]
    pub fn new(machine: &ClusterMachine, cores: &[usize], servers: &[ServerUse]) -> Self {
        let known = |server: &'_ ServerUse| server.name.parse::<HostPart>().ok();
        let servers: Vec<(HostPart, &ServerUse)> = servers
            .iter()
            .filter_map(|server| Some((known(server)?, server)))
            .collect();
        let each = |parts: &dyn Fn(usize) -> Vec<HostPart>| -> Vec<Vec<HostPart>> {
            (0..machine.hosts).map(parts).collect()
        };
        let cards = machine.cards.len();
        let regions = |host: usize| host * machine.regions..(host + 1) * machine.regions;
        let ranks = |host: usize| {
            let all = (0..cores.len()).filter(move |&rank| machine.host(cores[rank]) == host);
            all.map(|rank| HostPart::Processor { rank }).collect()
        };
        let out = each(&|host| {
            (0..cards)
                .map(|card| HostPart::CardOut { host, card })
                .collect()
        });
        let into = each(&|host| {
            (0..cards)
                .map(|card| HostPart::CardIn { host, card })
                .collect()
        });
        let ports = each(&|host| {
            regions(host)
                .map(|region| HostPart::Port { region })
                .collect()
        });
        let memories = each(&|host| {
            regions(host)
                .map(|region| HostPart::Memory { region })
                .collect()
        });
        let rows = [
            (("between hosts", "cards, out"), out),
            (("between hosts", "cards, in"), into),
            (("between NUMA nodes", "ports"), ports),
            (("inside NUMA nodes", "memories"), memories),
            (("inside NUMA nodes", "cores"), each(&ranks)),
        ];
        let row = |(name, parts)| Row::new(name, parts, &servers);
        Self {
            rows: rows.into_iter().map(row).collect(),
        }
    }
}
