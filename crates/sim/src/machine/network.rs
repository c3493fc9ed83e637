//! Networks in virtual time: how long a message is under way over buses, rings, meshes and links between packages.
//!
//! A message takes one link after another. Each link is a server in either direction: the next message can enter when
//! this one's flits have left, and the head arrives at the other end after the link's latency. Distance and
//! congestion both follow from this.

use super::links::{Hop, Inner, Payload};
use super::parts::{SimMachine, Spot};
use super::routes::{packages, route};
use crate::VirtualTime;
use crate::server::Server;
use crate::ticks;

/// A [`Hop`] in ticks.
#[derive(Clone, Copy, Debug)]
struct HopTicks {
    latency: VirtualTime,
    control: VirtualTime,
    data: VirtualTime,
}

impl HopTicks {
    fn of(hop: Hop) -> Self {
        Self {
            latency: ticks(hop.latency),
            control: ticks(hop.control),
            data: ticks(hop.data),
        }
    }

    fn service(self, load: Payload) -> VirtualTime {
        match load {
            Payload::Control => self.control,
            Payload::Data => self.data,
        }
    }
}

#[derive(Clone, Debug)]
enum NetworkShape {
    Bus,
    Ring {
        stops: u32,
    },
    Mesh {
        width: u32,
    },
    Crossbar {
        stops: u32,
        latency: Vec<VirtualTime>,
    },
}

/// The networks of a machine at work.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    shape: NetworkShape,
    step: HopTicks,
    /// The links of all packages' networks, package by package.
    inner: Vec<Server>,
    per_package: usize,
    steps: Vec<HopTicks>,
    outer: Vec<Server>,
    /// The links to take, for each pair of packages.
    routes: Vec<Vec<u32>>,
    packages: u32,
}

impl Network {
    pub(crate) fn new(machine: &SimMachine) -> Self {
        let packages = packages(machine);
        let none = Hop {
            latency: 0.0,
            control: 0.0,
            data: 0.0,
        };
        let (shape, hop, per_package) = match &machine.inner {
            Inner::Bus(hop) => (NetworkShape::Bus, *hop, 1),
            &Inner::Ring { stops, hop } => (NetworkShape::Ring { stops }, hop, 2 * stops as usize),
            &Inner::Mesh { width, height, hop } => {
                let tiles = width as usize * height as usize;
                (NetworkShape::Mesh { width }, hop, 4 * tiles)
            }
            Inner::Crossbar { stops, latency } => {
                let latency = latency.iter().map(|&one| ticks(one)).collect();
                let stops = *stops;
                (NetworkShape::Crossbar { stops, latency }, none, 0)
            }
        };
        let pairs = (0..packages).flat_map(|a| (0..packages).map(move |b| (a, b)));
        let routes = pairs.map(|(a, b)| route(machine, packages, a, b).unwrap_or_default());
        let steps: Vec<HopTicks> = machine
            .links
            .iter()
            .map(|link| HopTicks::of(link.hop))
            .collect();
        Self {
            shape,
            step: HopTicks::of(hop),
            inner: vec![Server::default(); per_package * packages as usize],
            per_package,
            outer: vec![Server::default(); 2 * steps.len()],
            steps,
            routes: routes.collect(),
            packages,
        }
    }

    /// Whether all cores see each message at the same time.
    pub(crate) fn is_bus(&self) -> bool {
        matches!(self.shape, NetworkShape::Bus)
    }

    /// Sends a message at the time `at`, which is not before `now`; returns its arrival.
    pub(crate) fn send(
        &mut self,
        now: VirtualTime,
        from: Spot,
        to: Spot,
        load: Payload,
        at: VirtualTime,
    ) -> VirtualTime {
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
        now: VirtualTime,
        package: u32,
        (from, to): (u32, u32),
        load: Payload,
        mut at: VirtualTime,
    ) -> VirtualTime {
        let (step, service) = (self.step, self.step.service(load));
        let base = package as usize * self.per_package;
        let links = &mut self.inner[base..base + self.per_package];
        let mut pass = |link: usize| {
            at = links[link].serve(now, at, service) + step.latency;
        };
        match &self.shape {
            NetworkShape::Bus => pass(0),
            &NetworkShape::Ring { stops } => {
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
            &NetworkShape::Mesh { width } => {
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
            NetworkShape::Crossbar { stops, latency } => {
                at += match latency[..] {
                    [one] if from != to => one,
                    [_] => 0,
                    _ => latency[(from * stops + to) as usize],
                };
            }
        }
        at
    }

    /// The links that have served at least one message, with their names.
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
            NetworkShape::Bus => "bus".to_owned(),
            NetworkShape::Ring { .. } => {
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
    use crate::machine::{PackageLink, known};

    fn spot(package: u32, stop: u32) -> Spot {
        Spot { package, stop }
    }

    #[test]
    fn distance_is_counted_in_hops() {
        let mut mesh = Network::new(&known::mesh(8, 8));
        let hop = mesh.step.latency;
        let arrival = |net: &mut Network, from, to| {
            net.send(0, spot(0, from), spot(0, to), Payload::Control, 1_000_000) - 1_000_000
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
        let first = ring.send(0, a, b, Payload::Data, 0);
        let second = ring.send(0, a, b, Payload::Data, 0);
        assert_eq!(second - first, ring.step.data);
        // The other direction is another link.
        assert_eq!(ring.send(0, b, a, Payload::Data, 0), first);
    }

    #[test]
    fn packages_are_reached_over_the_fewest_links() {
        // Four packages on a line: 0 - 1 - 2 - 3.
        let mut machine = known::packages(4, 2);
        let hop = machine.links[0].hop;
        machine.links = (0..3).map(|a| PackageLink { a, b: a + 1, hop }).collect();
        let mut net = Network::new(&machine);
        let time = net.send(0, spot(0, 0), spot(3, 0), Payload::Control, 0);
        assert_eq!(time, 3 * ticks(hop.latency));
        machine.links.pop();
        let error = machine.check().unwrap_err().to_string();
        assert!(error.contains("no links lead from package 0"), "{error}");
    }
}
