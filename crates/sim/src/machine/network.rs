//! How long a message is under way: buses, rings, meshes, links between packages.
//!
//! A message takes one link after another. Each link is a server in either direction: the next message
//! can enter when this one's flits have left, and the head arrives at the other end after the link's
//! latency. So distance and congestion come from the same place.

use super::{Machine, Spot};
use crate::Time;
use crate::server::Server;
use crate::ticks;

/// What a message carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// A request or an answer without data.
    Control,
    /// A line.
    Data,
}

/// One kind of link: its latency, and for how long a message keeps others out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// From one end to the other.
    pub latency: f64,
    /// For how long a message without data occupies it.
    pub control: f64,
    /// For how long a line occupies it.
    pub data: f64,
}

/// The network inside of each package.
#[derive(Clone, Debug, PartialEq)]
pub enum Inner {
    /// One bus for everything; requests on it are seen by all at once.
    Bus(Hop),
    /// Stops around a ring, links in both directions; messages take the shorter way.
    Ring {
        /// Number of stops.
        stops: u32,
        /// Between two of them.
        hop: Hop,
    },
    /// A mesh of `width` columns; messages go along the row first.
    Mesh {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
        /// Between two neighbours.
        hop: Hop,
    },
    /// From anywhere to anywhere, and nobody is in the way: one latency, or one for each pair of stops,
    /// row by row.
    Crossbar {
        /// Number of stops.
        stops: u32,
        /// Half the way there and back, for each pair of stops; or one for all.
        latency: Vec<f64>,
    },
}

/// A link between two packages, in both directions; it leaves and enters at stop 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// One package.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// What it costs.
    pub hop: Hop,
}

impl Inner {
    fn stops(&self) -> u32 {
        match *self {
            Self::Bus(_) => u32::MAX,
            Self::Ring { stops, .. } | Self::Crossbar { stops, .. } => stops,
            Self::Mesh { width, height, .. } => width * height,
        }
    }

    /// Whether all places of `machine` are on it, and links join its packages.
    pub(super) fn check(&self, machine: &Machine) -> Result<(), String> {
        let homes = machine.homes.iter().map(|home| home.spot);
        let cores = machine.cores.iter().map(|seat| seat.spot);
        let all = || {
            let rest = machine.groups.iter().chain(&machine.memories).copied();
            cores.clone().chain(homes.clone()).chain(rest)
        };
        if let Some(spot) = all().find(|spot| spot.stop >= self.stops()) {
            return Err(format!("there is no stop {} on its network", spot.stop));
        }
        let packages = packages(machine);
        if machine
            .links
            .iter()
            .any(|link| link.a.max(link.b) >= packages)
        {
            return Err("a link leads to a package that is not there".into());
        }
        if matches!(self, Self::Bus(_)) && packages > 1 {
            return Err("a bus is for one package".into());
        }
        let lone = (0..packages).any(|package| route(machine, packages, 0, package).is_none());
        match (lone, self) {
            (true, _) => Err("no links lead from package 0 to some other".into()),
            (_, Self::Crossbar { stops, latency })
                if latency.len() != 1 && latency.len() != (stops * stops) as usize =>
            {
                Err("a crossbar needs one latency, or one for each pair of stops".into())
            }
            _ => Ok(()),
        }
    }
}

fn packages(machine: &Machine) -> u32 {
    let cores = machine.cores.iter().map(|seat| seat.spot.package);
    let homes = machine.homes.iter().map(|home| home.spot.package);
    cores.chain(homes).max().map_or(0, |last| last + 1)
}

/// The directed links (twice the link's number, plus one from b to a) from package to package, the fewest.
fn route(machine: &Machine, packages: u32, from: u32, to: u32) -> Option<Vec<u32>> {
    let mut came: Vec<Option<u32>> = vec![None; packages as usize];
    let mut queue = std::collections::VecDeque::from([from]);
    let ends = |way: u32| {
        let link = machine.links[way as usize / 2];
        match way % 2 {
            0 => (link.a, link.b),
            _ => (link.b, link.a),
        }
    };
    while let Some(at) = queue.pop_front() {
        for way in 0..2 * machine.links.len() as u32 {
            let (a, b) = ends(way);
            if a == at && b != from && came[b as usize].is_none() {
                came[b as usize] = Some(way);
                queue.push_back(b);
            }
        }
    }
    let (mut ways, mut at) = (Vec::new(), to);
    while at != from {
        let way = came[at as usize]?;
        ways.push(way);
        at = ends(way).0;
    }
    ways.reverse();
    Some(ways)
}

/// A [`Hop`] in ticks.
#[derive(Clone, Copy, Debug)]
struct Step {
    latency: Time,
    control: Time,
    data: Time,
}

impl Step {
    fn of(hop: Hop) -> Self {
        Self {
            latency: ticks(hop.latency),
            control: ticks(hop.control),
            data: ticks(hop.data),
        }
    }

    fn service(self, load: Load) -> Time {
        match load {
            Load::Control => self.control,
            Load::Data => self.data,
        }
    }
}

#[derive(Clone, Debug)]
enum Shape {
    Bus,
    Ring { stops: u32 },
    Mesh { width: u32 },
    Crossbar { stops: u32, latency: Vec<Time> },
}

/// The networks of a machine at work.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    shape: Shape,
    step: Step,
    /// Links of a package's network; of all packages one after the other.
    inner: Vec<Server>,
    per_package: usize,
    steps: Vec<Step>,
    outer: Vec<Server>,
    /// For each pair of packages.
    routes: Vec<Vec<u32>>,
    packages: u32,
}

impl Network {
    pub(crate) fn new(machine: &Machine) -> Self {
        let packages = packages(machine);
        let none = Hop {
            latency: 0.0,
            control: 0.0,
            data: 0.0,
        };
        let (shape, hop, per_package) = match &machine.inner {
            Inner::Bus(hop) => (Shape::Bus, *hop, 1),
            &Inner::Ring { stops, hop } => (Shape::Ring { stops }, hop, 2 * stops as usize),
            &Inner::Mesh { width, height, hop } => {
                let tiles = width as usize * height as usize;
                (Shape::Mesh { width }, hop, 4 * tiles)
            }
            Inner::Crossbar { stops, latency } => {
                let latency = latency.iter().map(|&one| ticks(one)).collect();
                let stops = *stops;
                (Shape::Crossbar { stops, latency }, none, 0)
            }
        };
        let pairs = (0..packages).flat_map(|a| (0..packages).map(move |b| (a, b)));
        let routes = pairs.map(|(a, b)| route(machine, packages, a, b).unwrap_or_default());
        let steps: Vec<Step> = machine
            .links
            .iter()
            .map(|link| Step::of(link.hop))
            .collect();
        Self {
            shape,
            step: Step::of(hop),
            inner: vec![Server::default(); per_package * packages as usize],
            per_package,
            outer: vec![Server::default(); 2 * steps.len()],
            steps,
            routes: routes.collect(),
            packages,
        }
    }

    /// Whether what is sent is seen by everybody at once.
    pub(crate) fn is_bus(&self) -> bool {
        matches!(self.shape, Shape::Bus)
    }

    /// Sends a message `at`, not before `now`; says when it arrives.
    pub(crate) fn send(&mut self, now: Time, from: Spot, to: Spot, load: Load, at: Time) -> Time {
        if from == to && !self.is_bus() {
            return at;
        }
        if from.package == to.package {
            return self.inside(now, from.package, (from.stop, to.stop), load, at);
        }
        let mut at = self.inside(now, from.package, (from.stop, 0), load, at);
        let route = (from.package * self.packages + to.package) as usize;
        for &way in &self.routes[route] {
            let step = self.steps[way as usize / 2];
            let start = self.outer[way as usize].serve(now, at, step.service(load));
            at = start + step.latency;
        }
        self.inside(now, to.package, (0, to.stop), load, at)
    }

    fn inside(
        &mut self,
        now: Time,
        package: u32,
        (from, to): (u32, u32),
        load: Load,
        mut at: Time,
    ) -> Time {
        let (step, service) = (self.step, self.step.service(load));
        let base = package as usize * self.per_package;
        let links = &mut self.inner[base..base + self.per_package];
        let mut pass = |link: usize| {
            at = links[link].serve(now, at, service) + step.latency;
        };
        match &self.shape {
            Shape::Bus => pass(0),
            &Shape::Ring { stops } => {
                let right = (to + stops - from) % stops;
                let (count, up) = match right <= stops - right {
                    true => (right, true),
                    false => (stops - right, false),
                };
                let mut stop = from;
                for _ in 0..count {
                    pass((2 * stop + u32::from(!up)) as usize);
                    stop = match up {
                        true => (stop + 1) % stops,
                        false => (stop + stops - 1) % stops,
                    };
                }
            }
            &Shape::Mesh { width } => {
                let ((mut x, mut y), goal) =
                    ((from % width, from / width), (to % width, to / width));
                while x != goal.0 {
                    let right = x < goal.0;
                    pass((4 * (y * width + x) + u32::from(!right)) as usize);
                    x = if right { x + 1 } else { x - 1 };
                }
                while y != goal.1 {
                    let down = y < goal.1;
                    pass((4 * (y * width + x) + 2 + u32::from(!down)) as usize);
                    y = if down { y + 1 } else { y - 1 };
                }
            }
            Shape::Crossbar { stops, latency } => {
                at += match latency[..] {
                    [one] if from != to => one,
                    [_] => 0,
                    _ => latency[(from * stops + to) as usize],
                };
            }
        }
        at
    }

    /// All links that have served something, with their names.
    pub(crate) fn used(&self) -> impl Iterator<Item = (String, &Server)> {
        let inner = self.inner.iter().enumerate().map(|(index, server)| {
            let (package, link) = (
                index / self.per_package.max(1),
                index % self.per_package.max(1),
            );
            (self.name(package, link), server)
        });
        let outer = self.outer.iter().enumerate().map(|(way, server)| {
            let direction = if way % 2 == 0 { "out" } else { "back" };
            (format!("link {} {direction}", way / 2), server)
        });
        inner.chain(outer).filter(|(_, server)| server.served() > 0)
    }

    fn name(&self, package: usize, link: usize) -> String {
        match self.shape {
            Shape::Bus => "bus".to_owned(),
            Shape::Ring { .. } => {
                let direction = ["up", "down"][link % 2];
                format!(
                    "ring of package {package}, {direction} from stop {}",
                    link / 2
                )
            }
            _ => {
                let direction = ["right", "left", "down", "up"][link % 4];
                format!(
                    "mesh of package {package}, {direction} from stop {}",
                    link / 4
                )
            }
        }
    }

    pub(crate) fn reset(&mut self) {
        self.inner.iter_mut().for_each(Server::reset);
        self.outer.iter_mut().for_each(Server::reset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::known;

    fn spot(package: u32, stop: u32) -> Spot {
        Spot { package, stop }
    }

    #[test]
    fn distance_is_counted_in_hops() {
        let mut mesh = Network::new(&known::mesh(8, 8));
        let hop = mesh.step.latency;
        let arrival = |net: &mut Network, from, to| {
            net.send(0, spot(0, from), spot(0, to), Load::Control, 1_000_000) - 1_000_000
        };
        assert_eq!(arrival(&mut mesh, 0, 63), 14 * hop);
        assert_eq!(arrival(&mut mesh, 9, 9), 0);
        let mut ring = Network::new(&known::ring(10));
        let hop = ring.step.latency;
        assert_eq!(arrival(&mut ring, 0, 3), 3 * hop);
        assert_eq!(arrival(&mut ring, 1, 9), 2 * hop);
    }

    #[test]
    fn messages_wait_for_each_other_on_a_link() {
        let mut ring = Network::new(&known::ring(10));
        let (a, b) = (spot(0, 0), spot(0, 1));
        let first = ring.send(0, a, b, Load::Data, 0);
        let second = ring.send(0, a, b, Load::Data, 0);
        assert_eq!(second - first, ring.step.data);
        // The other direction is another link.
        assert_eq!(ring.send(0, b, a, Load::Data, 0), first);
    }

    #[test]
    fn packages_are_reached_over_the_fewest_links() {
        // Four packages on a line: 0 - 1 - 2 - 3.
        let mut machine = known::packages(4, 2);
        let hop = machine.links[0].hop;
        machine.links = (0..3).map(|a| Link { a, b: a + 1, hop }).collect();
        let mut net = Network::new(&machine);
        let time = net.send(0, spot(0, 0), spot(3, 0), Load::Control, 0);
        assert_eq!(time, 3 * ticks(hop.latency));
        machine.links.pop();
        let error = machine.check().unwrap_err().to_string();
        assert!(error.contains("no links lead from package 0"), "{error}");
    }
}
