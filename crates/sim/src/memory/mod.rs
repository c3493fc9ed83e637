//! The memory of a machine: caches, who has which line, and what a request for one takes.
//!
//! A request that misses goes to its *agent*, the one that puts requests for a line in order: the shared
//! cache of its core's group if no other group is concerned, else the line's home, or the bus. There all
//! states change at once, at the time of its arrival, and all that still has to happen is booked with the
//! servers on the way:
//!
//! ```text
//!   core ──► group ──► home ──► owner's cache ──► core        a line from another cache
//!                       ├─────► memory ─────────► core        a line from memory
//!                       └─────► each sharer ────► core        invalidations, and their answers
//! ```
//!
//! While a line changes its owner it is *busy*, and the next request for it waits at the agent. States say who will
//! have a line; a copy that is still on its way is given on when it has come.
//!
//! **Invariant M1:** a copy that may be written is the only one of all cores. **M2:** one copy at most answers
//! readers. Both are checked after each change where [`Options::checking`](crate::engine::Options::checking) is
//! on. Copies have no content of their own, so none can be stale.

mod counts;
mod home;
mod line;
mod lru;
mod reads;
mod room;
mod writes;

pub use counts::{CoreCounts, Counts, Reach, Source};
pub use line::State;
pub(crate) use line::{Copy, Line};

use crate::machine::network::{Load, Network};
use crate::machine::{Finding, Machine, Protocol, Spot};
use crate::server::Server;
use crate::{Time, ticks};
use line::GroupCopy;
use lru::Lru;

/// A line's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineId(pub(crate) u32);

impl LineId {
    /// The line so many after this one, of lines that were allocated together.
    #[must_use]
    pub fn offset(self, lines: usize) -> Self {
        Self(self.0 + u32::try_from(lines).expect("fewer than 2^32 lines"))
    }

    /// The line's number, for a program that passes lines on as words, as another passes pointers.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }

    /// The line of a [`number`](Self::number).
    #[must_use]
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }
}

/// What a core wants of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Load,
    /// Writes the word.
    Store,
    /// Writes all of the line, so its old content need not come.
    Fresh,
    /// Adds to the word.
    Add,
    /// To be the only one that has it, for a store to come.
    Own,
    /// Writes the line into its home's cache, and keeps no copy.
    Push,
}

/// Who puts a request in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    Group,
    Home,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) core: u32,
    pub(crate) line: u32,
    pub(crate) what: What,
    pub(crate) agent: Agent,
    /// What is written or added; then what was read.
    pub(crate) word: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It comes to its next agent at that time.
    Arrives(Time),
    /// Its line is busy until then.
    Busy(Time),
    /// The core has what it wanted, at that time.
    Done(Time),
}

/// Costs in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    pub(crate) l1: Time,
    pub(crate) l2: Time,
    pub(crate) store: Time,
    pub(crate) atomic: Time,
    pub(crate) snoop: Time,
    pub(crate) invalidate: Time,
    pub(crate) fill: Time,
    pub(crate) shared: Time,
    pub(crate) home: Time,
    pub(crate) memory: Time,
    pub(crate) memory_service: Time,
    pub(crate) poll: Time,
    pub(crate) notify: Time,
    pub(crate) copy_line: Time,
    pub(crate) call: Time,
}

/// The memory of a machine at work.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) machine: Machine,
    pub(crate) ticks: Ticks,
    pub(crate) lines: Vec<Line>,
    pub(crate) counts: Counts,
    pub(crate) network: Network,
    caches: Vec<Server>,
    shared: Vec<Server>,
    homes: Vec<Server>,
    memories: Vec<Server>,
    /// First and second cache of each core.
    private: Vec<Lru>,
    group_lines: Vec<Lru>,
    /// The line that each core polls: it sleeps until it loses its copy.
    watched: Vec<Option<u32>>,
    /// Cores that lost a line which they watch, and when.
    pub(crate) wakes: Vec<(Time, u32)>,
    /// Nothing takes time, and nothing is counted.
    pub(crate) untimed: bool,
    /// Whether the invariants are checked after each change.
    pub(crate) checking: bool,
    now: Time,
}

impl Memory {
    pub(crate) fn new(machine: Machine) -> Self {
        let costs = &machine.costs;
        let all = Ticks {
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

    /// New lines, next to each other, at home with `core` unless the machine spreads them.
    pub(crate) fn allocate(&mut self, core: usize, count: usize) -> LineId {
        let first = self.lines.len();
        for index in first..first + count {
            let home = match self.machine.hashed {
                // The golden ratio spreads neighbours, whatever the number of homes.
                true => {
                    let hash = (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
                    (hash % self.machine.homes.len() as u64) as u32
                }
                false => self.machine.cores[core].home,
            };
            self.lines.push(Line::new(home));
        }
        LineId(u32::try_from(first).expect("fewer than 2^32 lines"))
    }

    pub(crate) fn line(&self, line: u32) -> &Line {
        &self.lines[line as usize]
    }

    /// The state of a core's copy, if it has one.
    pub(crate) fn state(&self, core: u32, line: u32) -> Option<State> {
        self.line(line).copy(core).map(|copy| copy.state)
    }

    fn core_spot(&self, core: u32) -> Spot {
        self.machine.cores[core as usize].spot
    }

    fn group_of(&self, core: u32) -> Option<u32> {
        self.machine.cores[core as usize].group
    }

    fn home_spot(&self, line: u32) -> Spot {
        self.machine.homes[self.line(line).home as usize].spot
    }

    /// A message; its arrival.
    fn send(&mut self, from: Spot, to: Spot, load: Load, at: Time) -> Time {
        match self.untimed {
            true => at,
            false => self.network.send(self.now, from, to, load, at),
        }
    }

    /// Time in a server that is done with it at the end.
    fn serve(&mut self, which: Which, at: Time) -> Time {
        if self.untimed {
            return at;
        }
        let ticks = &self.ticks;
        let (server, service) = match which {
            Which::Cache(core) => (&mut self.caches[core as usize], ticks.snoop),
            Which::Loser(core) => (&mut self.caches[core as usize], ticks.invalidate),
            Which::Shared(group) => (&mut self.shared[group as usize], ticks.shared),
            Which::Home(home) => (&mut self.homes[home as usize], ticks.home),
            Which::Memory(memory) => {
                let server = &mut self.memories[memory as usize];
                return server.serve(self.now, at, ticks.memory_service) + ticks.memory;
            }
        };
        server.serve(self.now, at, service) + service
    }

    /// What a core can do with its own copy at once: the time that takes. Does it.
    pub(crate) fn hit(&mut self, request: &mut Request) -> Option<Time> {
        let Request {
            core, line, what, ..
        } = *request;
        let ticks = self.ticks;
        let entry = &self.lines[line as usize];
        let place = entry.place(core).ok()?;
        let copy = entry.copies[place];
        let took = match what {
            What::Load => {
                request.word = entry.word;
                match self.private[core as usize].is_small(copy.place) {
                    true => ticks.l1,
                    false => ticks.l2,
                }
            }
            What::Push => return None,
            _ if !self.may_write(core, line, copy) => return None,
            What::Own => 0,
            _ => {
                self.write(request);
                match what {
                    What::Add => ticks.l1 + ticks.atomic,
                    _ => ticks.store,
                }
            }
        };
        self.touch(core, line);
        if !self.untimed {
            self.counts.cores[core as usize].hits += 1;
        }
        Some(took)
    }

    /// Whether a store to this copy concerns nobody else.
    fn may_write(&self, core: u32, line: u32, copy: Copy) -> bool {
        match self.machine.protocol {
            Protocol::Home => {
                let entry = self.line(line);
                entry.home == core && entry.copies.len() == 1
            }
            _ => copy.state.writable(),
        }
    }

    /// Writes the word of a line that the core has for itself, or that its home writes for it.
    fn write(&mut self, request: &mut Request) {
        let protocol = self.machine.protocol;
        let entry = &mut self.lines[request.line as usize];
        let before = entry.word;
        entry.word = match request.what {
            What::Load | What::Own => return,
            What::Add => before.wrapping_add(request.word),
            What::Store | What::Fresh | What::Push => request.word,
        };
        entry.newer = protocol == Protocol::Home;
        if protocol != Protocol::Home {
            for copy in &mut entry.copies {
                copy.state = State::Modified;
            }
        }
        request.word = before;
    }

    /// Where a request of `core` for `line` arrives first, if it leaves `at`.
    pub(crate) fn begin(&mut self, now: Time, request: &mut Request, at: Time) -> Time {
        self.now = now;
        let Request { core, line, .. } = *request;
        if !self.untimed {
            self.counts.cores[core as usize].misses += 1;
        }
        let (from, at) = (self.core_spot(core), at + self.ticks.l2);
        let load = match request.what {
            What::Push => Load::Data,
            _ => Load::Control,
        };
        let to = match self.group_of(core) {
            Some(group) => {
                request.agent = Agent::Group;
                self.machine.groups[group as usize]
            }
            None => {
                request.agent = Agent::Home;
                self.home_spot(line)
            }
        };
        if request.what == What::Push {
            self.drop_copy(core, line);
        }
        self.send(from, to, load, at)
    }

    /// Serves a request that is with its agent now.
    pub(crate) fn arrive(&mut self, now: Time, request: &mut Request) -> Outcome {
        self.now = now;
        let Request { core, line, .. } = *request;
        let busy = self.line(line).busy;
        if busy > now && !self.untimed {
            return Outcome::Busy(busy);
        }
        if self.machine.protocol == Protocol::Home {
            return self.at_home(now, request);
        }
        if request.what != What::Push
            && let Some(took) = self.hit(request)
        {
            // Came by another request of this core meanwhile.
            return Outcome::Done(now + took);
        }
        let (agent, at) = match (request.agent, self.group_of(core)) {
            (Agent::Group, Some(group)) => {
                let at = self.serve(Which::Shared(group), now);
                let spot = self.machine.groups[group as usize];
                if !self.stays_inside(group, request) {
                    request.agent = Agent::Home;
                    let load = match request.what {
                        What::Push => Load::Data,
                        _ => Load::Control,
                    };
                    return Outcome::Arrives(self.send(spot, self.home_spot(line), load, at));
                }
                (
                    At {
                        spot,
                        group: Some(group),
                    },
                    at,
                )
            }
            _ => {
                let at = match self.network.is_bus() {
                    true => now,
                    false => self.serve(Which::Home(self.line(line).home), now),
                };
                let spot = self.home_spot(line);
                (At { spot, group: None }, at)
            }
        };
        let done = match request.what {
            What::Load => self.read(request, agent, at),
            What::Push => self.push(request, at),
            _ => self.take(request, agent, at),
        };
        self.check(line);
        Outcome::Done(done + self.ticks.fill)
    }

    /// Whether a group's shared cache can answer without the line's home.
    fn stays_inside(&self, group: u32, request: &Request) -> bool {
        let entry = self.line(request.line);
        let inside = |core: u32| self.group_of(core) == Some(group);
        let mut others = entry.copies.iter().filter(|copy| copy.core != request.core);
        let cached = entry.groups.iter().any(|copy| copy.group == group);
        match request.what {
            What::Push => false,
            What::Load => cached || others.any(|copy| inside(copy.core) && copy.state.answers()),
            _ => {
                let all = entry.copies.iter().all(|copy| inside(copy.core));
                let alone = entry.groups.iter().all(|copy| copy.group == group);
                let some = cached || !entry.copies.is_empty();
                all && alone && some
            }
        }
    }

    /// A line that is written into its home's cache: that of the core which allocated it. The home alone
    /// has it then.
    fn push(&mut self, request: &mut Request, at: Time) -> Time {
        let line = request.line;
        let home = self.line(line).home;
        let seats = &self.machine.cores;
        let to = seats.iter().position(|seat| seat.home == home).unwrap_or(0) as u32;
        let agent = At {
            spot: self.home_spot(line),
            group: None,
        };
        let mut owner = Request {
            core: to,
            what: What::Fresh,
            ..*request
        };
        let reached = self.reach_core(agent, to, at);
        let served = self.serve(Which::Cache(to), reached);
        let done = match self.hit(&mut owner) {
            Some(_) => served,
            None => self.take(&mut owner, agent, served),
        };
        self.wake(line, to, served);
        self.count(Source::Pushed, Some(request.core), to);
        self.send(
            self.core_spot(to),
            self.core_spot(request.core),
            Load::Control,
            done,
        )
    }

    /// Lets a core sleep until it loses its copy of a line, or that changes.
    pub(crate) fn watch(&mut self, line: u32, core: u32) {
        self.watched[core as usize] = Some(line);
    }

    /// Wakes a watcher of a line that has lost its copy, or whose copy has changed.
    fn wake(&mut self, line: u32, core: u32, at: Time) {
        let watched = &mut self.watched[core as usize];
        if *watched == Some(line) {
            *watched = None;
            self.wakes.push((at + self.ticks.poll, core));
        }
    }

    /// The way from an agent to a core's cache, by way of its group's.
    fn reach_core(&mut self, agent: At, core: u32, at: Time) -> Time {
        if self.network.is_bus() {
            // Everybody has seen the request.
            return at;
        }
        let spot = self.core_spot(core);
        match self.group_of(core) {
            Some(group) if agent.group != Some(group) => {
                let through = self.machine.groups[group as usize];
                let at = self.send(agent.spot, through, Load::Control, at);
                let at = self.serve(Which::Shared(group), at);
                self.send(through, spot, Load::Control, at)
            }
            _ => self.send(agent.spot, spot, Load::Control, at),
        }
    }

    /// A read of memory behind the line's home, to a core.
    fn read_memory(&mut self, line: u32, to: Spot, at: Time) -> Time {
        let home = self.machine.homes[self.line(line).home as usize];
        let spot = self.machine.memories[home.memory as usize];
        let at = match self.network.is_bus() {
            true => at,
            false => self.send(home.spot, spot, Load::Control, at),
        };
        let at = self.serve(Which::Memory(home.memory), at);
        self.send(spot, to, Load::Data, at)
    }

    /// A line goes back to memory; nobody waits for it.
    fn write_back(&mut self, line: u32, at: Time) {
        let home = self.machine.homes[self.line(line).home as usize];
        self.serve(Which::Memory(home.memory), at);
        if !self.untimed {
            self.counts.write_backs += 1;
        }
    }

    fn count(&mut self, source: Source, from: Option<u32>, to: u32) {
        if self.untimed {
            return;
        }
        let reach = match from {
            Some(from)
                if self.machine.package(from as usize) != self.machine.package(to as usize) =>
            {
                Reach::Machine
            }
            Some(from) if from != to && self.group_of(from) != self.group_of(to) => Reach::Package,
            Some(from) if from != to && self.group_of(to).is_none() => Reach::Package,
            _ => Reach::Group,
        };
        *self.counts.transfers.entry((source, reach)).or_default() += 1;
        if let Some(from) = from.filter(|_| source.is_core()) {
            self.counts.cores[from as usize].given += 1;
        }
    }

    fn check(&self, line: u32) {
        if self.checking {
            let entry = self.line(line);
            assert!(entry.coherent(), "line {line} is not coherent: {entry:?}");
        }
    }

    /// Forgets what was counted.
    pub(crate) fn reset_counts(&mut self) {
        self.counts = Counts::new(self.machine.cores.len());
        self.network.reset();
        let servers = self.caches.iter_mut().chain(&mut self.shared);
        let servers = servers.chain(&mut self.homes).chain(&mut self.memories);
        servers.for_each(Server::reset);
    }

    /// A notification from core to core, past the caches; its arrival.
    pub(crate) fn signal(&mut self, from: u32, to: u32, at: Time) -> Time {
        self.counts.notifications += 1;
        self.send(self.core_spot(from), self.core_spot(to), Load::Control, at)
    }

    /// Reads or writes, all at once and uncounted.
    pub(crate) fn at_once(&mut self, core: usize, line: LineId, word: Option<u64>) {
        let untimed = std::mem::replace(&mut self.untimed, true);
        let mut request = Request {
            core: core as u32,
            line: line.0,
            what: word.map_or(What::Load, |_| What::Store),
            agent: Agent::Home,
            word: word.unwrap_or(0),
        };
        let now = self.now;
        if self.hit(&mut request).is_none() {
            self.begin(now, &mut request, now);
            while !matches!(self.arrive(now, &mut request), Outcome::Done(_)) {}
        }
        self.untimed = untimed;
    }

    /// All servers that have served something, with their names.
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

#[derive(Clone, Copy)]
enum Which {
    Cache(u32),
    /// A core's cache that only gives its copy up.
    Loser(u32),
    Shared(u32),
    Home(u32),
    Memory(u32),
}

/// Where a request is put in order.
#[derive(Clone, Copy)]
struct At {
    spot: Spot,
    /// If that is a shared cache.
    group: Option<u32>,
}

/// Whether a machine asks everybody.
fn asks_all(machine: &Machine) -> bool {
    machine.finding == Finding::Snooping
}
