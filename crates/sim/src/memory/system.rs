//! The memory of a machine at work: its lines, its caches, and the servers that requests pass.

use super::counts::{Counts, Distance, LineSource};
use super::line::{CachedLine, CopyState};
use super::lru::Lru;
use super::request::{AgentAt, LineId, ServerOf};
use crate::machine::network::Network;
use crate::machine::{CopyLookup, Payload, SimMachine, Spot};
use crate::server::Server;
use crate::{VirtualTime, ticks};

/// Times of the parts, in ticks of virtual time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CostTicks {
    pub(crate) l1: VirtualTime,
    pub(crate) l2: VirtualTime,
    pub(crate) store: VirtualTime,
    pub(crate) atomic: VirtualTime,
    pub(crate) snoop: VirtualTime,
    pub(crate) invalidate: VirtualTime,
    pub(crate) fill: VirtualTime,
    pub(crate) shared: VirtualTime,
    pub(crate) home: VirtualTime,
    pub(crate) memory: VirtualTime,
    pub(crate) memory_service: VirtualTime,
    pub(crate) poll: VirtualTime,
    pub(crate) notify: VirtualTime,
    pub(crate) copy_line: VirtualTime,
    pub(crate) call: VirtualTime,
}

/// The memory of a machine at work.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) machine: SimMachine,
    pub(crate) ticks: CostTicks,
    pub(crate) lines: Vec<CachedLine>,
    pub(crate) counts: Counts,
    pub(crate) network: Network,
    pub(super) caches: Vec<Server>,
    pub(super) shared: Vec<Server>,
    pub(super) homes: Vec<Server>,
    pub(super) memories: Vec<Server>,
    /// First and second cache of each core.
    pub(super) private: Vec<Lru>,
    pub(super) group_lines: Vec<Lru>,
    /// The line that each core polls while it sleeps.
    pub(super) watched: Vec<Option<u32>>,
    /// Cores that have lost a line which they poll, and the time at which each looks again.
    pub(crate) wakes: Vec<(VirtualTime, u32)>,
    /// While this is set, requests take no time and are not counted.
    pub(crate) untimed: bool,
    /// Whether the invariants are checked after each change.
    pub(crate) checking: bool,
    pub(super) now: VirtualTime,
}

impl Memory {
    pub(crate) fn new(machine: SimMachine) -> Self {
        let costs = &machine.costs;
        let all = CostTicks {
            l1: ticks(costs.l1),
            l2: ticks(costs.l2),
            store: ticks(costs.store),
            atomic: ticks(costs.atomic),
            snoop: ticks(costs.snoop),
            invalidate: ticks(costs.invalidate),
            fill: ticks(costs.fill),
            shared: ticks(costs.shared),
            home: ticks(costs.home),
            memory: ticks(costs.memory),
            memory_service: ticks(costs.memory_service),
            poll: ticks(costs.poll),
            notify: ticks(costs.notify),
            copy_line: ticks(costs.copy_line),
            call: ticks(costs.call),
        };
        let servers = |count| vec![Server::default(); count];
        let cores = machine.cores.len();
        let sizes = &machine.sizes;
        let own = Lru::new(sizes.l2, sizes.l1);
        Self {
            ticks: all,
            lines: Vec::new(),
            counts: Counts::new(cores),
            network: Network::new(&machine),
            caches: servers(cores),
            shared: servers(machine.groups.len()),
            homes: servers(machine.homes.len()),
            memories: servers(machine.memories.len()),
            private: vec![own; cores],
            group_lines: vec![Lru::new(sizes.shared, sizes.shared); machine.groups.len()],
            watched: vec![None; cores],
            wakes: Vec::new(),
            untimed: false,
            checking: cfg!(debug_assertions),
            now: 0,
            machine,
        }
    }

    /// Allocates consecutive lines, at home with `core` unless the machine spreads lines.
    pub(crate) fn allocate(&mut self, core: usize, count: usize) -> LineId {
        let first = self.lines.len();
        for index in first..first + count {
            let home = match self.machine.hashed {
                // Hashing with the golden ratio spreads neighbouring lines over any number of homes.
                true => {
                    let hash = (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
                    (hash % self.machine.homes.len() as u64) as u32
                }
                false => self.machine.cores[core].home,
            };
            self.lines.push(CachedLine::new(home));
        }
        LineId(u32::try_from(first).expect("fewer than 2^32 lines"))
    }

    pub(crate) fn line(&self, line: u32) -> &CachedLine {
        &self.lines[line as usize]
    }

    /// The state of a core's copy, if it has one.
    pub(crate) fn state(&self, core: u32, line: u32) -> Option<CopyState> {
        self.line(line).copy(core).map(|copy| copy.state)
    }

    pub(super) fn core_spot(&self, core: u32) -> Spot {
        self.machine.cores[core as usize].spot
    }

    pub(super) fn group_of(&self, core: u32) -> Option<u32> {
        self.machine.cores[core as usize].group
    }

    pub(super) fn home_spot(&self, line: u32) -> Spot {
        self.machine.homes[self.line(line).home as usize].spot
    }

    /// Sends a message, and returns its arrival.
    pub(super) fn send(
        &mut self,
        from: Spot,
        to: Spot,
        load: Payload,
        at: VirtualTime,
    ) -> VirtualTime {
        match self.untimed {
            true => at,
            false => self.network.send(self.now, from, to, load, at),
        }
    }

    /// Serves a request at a server, and returns the end of the service.
    pub(super) fn serve(&mut self, which: ServerOf, at: VirtualTime) -> VirtualTime {
        if self.untimed {
            return at;
        }
        let ticks = &self.ticks;
        let (server, service) = match which {
            ServerOf::Cache(core) => (&mut self.caches[core as usize], ticks.snoop),
            ServerOf::Loser(core) => (&mut self.caches[core as usize], ticks.invalidate),
            ServerOf::Shared(group) => (&mut self.shared[group as usize], ticks.shared),
            ServerOf::Home(home) => (&mut self.homes[home as usize], ticks.home),
            ServerOf::Memory(memory) => {
                let server = &mut self.memories[memory as usize];
                return server.serve(self.now, at, ticks.memory_service) + ticks.memory;
            }
        };
        server.serve(self.now, at, service) + service
    }

    /// Notes that a core sleeps until its copy of a line changes or goes.
    pub(crate) fn watch(&mut self, line: u32, core: u32) {
        self.watched[core as usize] = Some(line);
    }

    /// Wakes a core that polls this line.
    pub(super) fn wake(&mut self, line: u32, core: u32, at: VirtualTime) {
        let watched = &mut self.watched[core as usize];
        if *watched == Some(line) {
            *watched = None;
            self.wakes.push((at + self.ticks.poll, core));
        }
    }

    /// Sends a request from an agent to a core's cache, through the shared cache of its group; returns its arrival.
    pub(super) fn reach_core(&mut self, agent: AgentAt, core: u32, at: VirtualTime) -> VirtualTime {
        if self.network.is_bus() {
            // All cores have seen the request on the bus.
            return at;
        }
        let spot = self.core_spot(core);
        match self.group_of(core) {
            Some(group) if agent.group != Some(group) => {
                let through = self.machine.groups[group as usize];
                let at = self.send(agent.spot, through, Payload::Control, at);
                let at = self.serve(ServerOf::Shared(group), at);
                self.send(through, spot, Payload::Control, at)
            }
            _ => self.send(agent.spot, spot, Payload::Control, at),
        }
    }

    /// Reads a line from the memory behind its home, for the core at `to`; returns the arrival.
    pub(super) fn read_memory(&mut self, line: u32, to: Spot, at: VirtualTime) -> VirtualTime {
        let home = self.machine.homes[self.line(line).home as usize];
        let spot = self.machine.memories[home.memory as usize];
        let at = match self.network.is_bus() {
            true => at,
            false => self.send(home.spot, spot, Payload::Control, at),
        };
        let at = self.serve(ServerOf::Memory(home.memory), at);
        self.send(spot, to, Payload::Data, at)
    }

    /// Writes a line back to memory; no request waits for that.
    pub(super) fn write_back(&mut self, line: u32, at: VirtualTime) {
        let home = self.machine.homes[self.line(line).home as usize];
        self.serve(ServerOf::Memory(home.memory), at);
        if !self.untimed {
            self.counts.write_backs += 1;
        }
    }

    /// The first core of a group.
    pub(super) fn member_of(&self, group: u32) -> Option<u32> {
        let mut cores = self.machine.cores.iter();
        let member = cores.position(|core| core.group == Some(group));
        member.map(|core| core as u32)
    }

    pub(super) fn count(&mut self, source: LineSource, from: Option<u32>, to: u32) {
        if self.untimed {
            return;
        }
        let reach = match from {
            Some(from)
                if self.machine.package(from as usize) != self.machine.package(to as usize) =>
            {
                Distance::Machine
            }
            Some(from) if from != to && self.group_of(from) != self.group_of(to) => {
                Distance::Package
            }
            Some(from) if from != to && self.group_of(to).is_none() => Distance::Package,
            _ => Distance::Group,
        };
        *self.counts.transfers.entry((source, reach)).or_default() += 1;
        if let Some(from) = from.filter(|_| source.is_core()) {
            self.counts.cores[from as usize].given += 1;
        }
    }

    pub(super) fn check(&self, line: u32) {
        if self.checking {
            let entry = self.line(line);
            assert!(entry.coherent(), "line {line} is not coherent: {entry:?}");
        }
    }

    /// Sets all counters to zero.
    pub(crate) fn reset_counts(&mut self) {
        self.counts = Counts::new(self.machine.cores.len());
        self.network.reset();
        let servers = self.caches.iter_mut().chain(&mut self.shared);
        let servers = servers.chain(&mut self.homes).chain(&mut self.memories);
        servers.for_each(Server::reset);
    }

    /// Sends a notification from core to core, without the caches; returns its arrival.
    pub(crate) fn signal(&mut self, from: u32, to: u32, at: VirtualTime) -> VirtualTime {
        self.counts.notifications += 1;
        self.send(
            self.core_spot(from),
            self.core_spot(to),
            Payload::Control,
            at,
        )
    }

    /// The servers that have served at least one request, with their names.
    pub(crate) fn servers(&self) -> impl Iterator<Item = (String, &Server)> {
        let groups = [
            ("cache of core", &self.caches),
            ("shared cache", &self.shared),
            ("home", &self.homes),
            ("memory", &self.memories),
        ];
        let own = groups.into_iter().flat_map(|(name, servers)| {
            let all = servers.iter().enumerate();
            all.map(move |(index, server)| (format!("{name} {index}"), server))
        });
        own.filter(|(_, server)| server.served() > 0)
            .chain(self.network.used())
    }
}

/// Whether requests are broadcast to all caches.
pub(super) fn asks_all(machine: &SimMachine) -> bool {
    machine.finding == CopyLookup::Snooping
}
