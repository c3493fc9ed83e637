//! The parts of several hosts at work: servers, messages under way, and the events of ranks.

use super::machine::ClusterMachine;
use super::part::HostPart;
use crate::VirtualTime;
use crate::server::Server;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;

/// What a rank waits for from one other rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Notification,
    Message,
    Loan,
    Return,
}

/// A loan that was announced.
#[derive(Debug)]
pub(super) struct Loan {
    pub(super) bytes: Rc<[u8]>,
}

/// What is under way from one rank to another, with the times at which the receiver has it, in order.
#[derive(Debug, Default)]
pub(super) struct Link {
    pub(super) notifications: VecDeque<VirtualTime>,
    pub(super) mail: VecDeque<(VirtualTime, Rc<[u8]>)>,
    pub(super) loans: VecDeque<(VirtualTime, Loan)>,
    /// Returned loans, at the link of the lender.
    pub(super) returns: VecDeque<VirtualTime>,
    pub(super) lent: u64,
    pub(super) returned: u64,
}

impl Link {
    /// The time at which the first of a kind is there, if it is under way.
    pub(super) fn first(&self, kind: Kind) -> Option<VirtualTime> {
        match kind {
            Kind::Notification => self.notifications.front().copied(),
            Kind::Message => self.mail.front().map(|mail| mail.0),
            Kind::Loan => self.loans.front().map(|loan| loan.0),
            Kind::Return => self.returns.front().copied(),
        }
    }
}

/// Why a rank is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RankWait {
    /// Its next event, which is known.
    Turn,
    /// Something on a link.
    For(u32, Kind),
    /// All other ranks.
    All,
    /// It has ended.
    Over,
}

/// Costs in ticks of virtual time, which are thousandths of a nanosecond.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks {
    pub(super) latency: VirtualTime,
    pub(super) overhead: VirtualTime,
    pub(super) gap: VirtualTime,
    pub(super) near: VirtualTime,
    pub(super) far: VirtualTime,
    pub(super) call: VirtualTime,
}

/// Time for `bytes` of `byte_ns` each.
pub(super) fn bytes_ticks(bytes: usize, byte_ns: f64) -> VirtualTime {
    (bytes as f64 * byte_ns * 1000.0).round() as VirtualTime
}

/// The whole state of a run, except the stacks of its ranks.
#[derive(Debug)]
pub(super) struct World {
    pub(super) machine: ClusterMachine,
    pub(super) ticks: Ticks,
    /// The core of each rank.
    pub(super) cores: Vec<usize>,
    pub(super) now: VirtualTime,
    events: BinaryHeap<Reverse<(VirtualTime, u64, u32)>>,
    count: u64,
    pub(super) waits: Vec<RankWait>,
    /// Ranks that wait for all others.
    pub(super) met: Vec<(u32, VirtualTime)>,
    /// For each rank the others to which it has sent, in order, with the index of the link.
    ways: Vec<Vec<(u32, u32)>>,
    pub(super) links: Vec<Link>,
    cpus: Vec<Server>,
    /// Each card, towards the network and from it.
    cards: Vec<[Server; 2]>,
    memories: Vec<Server>,
    ports: Vec<Server>,
}

impl World {
    pub(super) fn new(machine: &ClusterMachine, cores: &[usize]) -> Self {
        let (network, parts) = (&machine.network, &machine.parts);
        let ticks = |ns: f64| crate::ticks(ns);
        let (ranks, regions) = (cores.len(), machine.hosts * machine.regions);
        let cards = machine.hosts * machine.cards.len();
        Self {
            ticks: Ticks {
                latency: ticks(network.latency_ns),
                overhead: ticks(network.overhead_ns),
                gap: ticks(network.gap_ns),
                near: ticks(parts.near_ns),
                far: ticks(parts.far_ns),
                call: ticks(parts.call_ns),
            },
            machine: machine.clone(),
            cores: cores.to_vec(),
            now: 0,
            events: BinaryHeap::new(),
            count: 0,
            waits: vec![RankWait::Turn; ranks],
            met: Vec::new(),
            ways: vec![Vec::new(); ranks],
            links: Vec::new(),
            cpus: vec![Server::default(); ranks],
            cards: vec![Default::default(); cards],
            memories: vec![Server::default(); regions],
            ports: vec![Server::default(); regions],
        }
    }

    /// Lets a rank go on at a time.
    pub(super) fn push(&mut self, at: VirtualTime, rank: usize) {
        self.count += 1;
        self.events.push(Reverse((at, self.count, rank as u32)));
    }

    /// The time of the next event.
    pub(super) fn due(&self) -> Option<VirtualTime> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes the next event if it is of this rank.
    pub(super) fn next_is(&mut self, rank: usize) -> bool {
        match self.events.peek() {
            Some(&Reverse((_, _, next))) if next as usize == rank => {
                self.next();
                true
            }
            _ => false,
        }
    }

    /// Takes the next event, and returns its rank.
    pub(super) fn next(&mut self) -> Option<usize> {
        let Reverse((at, _, rank)) = self.events.pop()?;
        self.now = at;
        self.waits[rank as usize] = RankWait::Turn;
        Some(rank as usize)
    }

    /// The link from one rank to another.
    pub(super) fn link(&mut self, from: usize, to: usize) -> u32 {
        let ways = &mut self.ways[from];
        match ways.binary_search_by_key(&(to as u32), |way| way.0) {
            Ok(at) => ways[at].1,
            Err(at) => {
                let link = self.links.len() as u32;
                ways.insert(at, (to as u32, link));
                self.links.push(Link::default());
                link
            }
        }
    }

    /// Wakes a rank that waits for what comes on `link`.
    fn wake(&mut self, rank: usize, link: u32, kind: Kind, at: VirtualTime) {
        if self.waits[rank] == RankWait::For(link, kind) {
            self.waits[rank] = RankWait::Turn;
            self.push(at, rank);
        }
    }

    /// Puts a notification, a message or a loan of `rank` for `peer` on its way at the time `at`; returns the time at
    /// which the sender goes on.
    pub(super) fn give(
        &mut self,
        (rank, peer): (usize, usize),
        what: Given,
        at: VirtualTime,
        bytes: usize,
    ) -> VirtualTime {
        let link = self.link(rank, peer);
        let (free, there) = self.message(rank, peer, bytes, at);
        let queue = &mut self.links[link as usize];
        let kind = match what {
            Given::Notification => {
                let there = there.max(queue.notifications.back().copied().unwrap_or(0));
                queue.notifications.push_back(there);
                Kind::Notification
            }
            Given::Message(mail) => {
                let there = there.max(queue.mail.back().map_or(0, |mail| mail.0));
                queue.mail.push_back((there, mail));
                Kind::Message
            }
            Given::Loan(loan) => {
                let there = there.max(queue.loans.back().map_or(0, |loan| loan.0));
                queue.loans.push_back((there, loan));
                queue.lent += 1;
                Kind::Loan
            }
        };
        let there = self.links[link as usize].first(kind).unwrap_or(there);
        self.wake(peer, link, kind, there);
        free
    }

    /// Returns a loan of `lender` at the time `at`; returns the time at which `rank` goes on.
    pub(super) fn give_back(&mut self, rank: usize, lender: usize, at: VirtualTime) -> VirtualTime {
        let link = self.link(lender, rank);
        let (free, there) = self.message(rank, lender, 0, at);
        let queue = &mut self.links[link as usize].returns;
        let there = there.max(queue.back().copied().unwrap_or(0));
        queue.push_back(there);
        let first = queue[0];
        self.wake(lender, link, Kind::Return, first);
        free
    }

    /// A message of `bytes` that its sender begins at the time `at`: when the sender goes on, and when the receiver has
    /// it.
    fn message(
        &mut self,
        from: usize,
        to: usize,
        bytes: usize,
        at: VirtualTime,
    ) -> (VirtualTime, VirtualTime) {
        let (a, b) = (self.cores[from], self.cores[to]);
        if self.machine.host(a) == self.machine.host(b) {
            let copied = bytes_ticks(bytes, self.machine.parts.copy_byte_ns);
            let way = match self.machine.region(a) == self.machine.region(b) {
                true => self.ticks.near,
                false => self.ticks.far,
            };
            return (at + copied, at + 2 * copied + way);
        }
        let free = self.busy(from, at);
        let there = self.cross(a, b, bytes, free).1;
        (free, self.busy(to, there))
    }

    /// The processor of a rank works for o; returns when it has done so.
    pub(super) fn busy(&mut self, rank: usize, at: VirtualTime) -> VirtualTime {
        let o = self.ticks.overhead;
        self.cpus[rank].serve(self.now, at, o) + o
    }

    /// The processor of a rank sends `bytes` itself, which takes o and as long as they take to leave; returns when it
    /// has begun with the bytes.
    pub(super) fn send_itself(
        &mut self,
        rank: usize,
        bytes: usize,
        at: VirtualTime,
    ) -> VirtualTime {
        let o = self.ticks.overhead;
        let body = bytes_ticks(bytes, self.machine.network.byte_ns);
        self.cpus[rank].serve(self.now, at, o + body) + o
    }

    /// Sends `bytes` from the card of one core to that of another, when the first one is free from `at` on. Returns when
    /// that is free again, and when the last byte has arrived.
    pub(super) fn cross(
        &mut self,
        from: usize,
        to: usize,
        bytes: usize,
        at: VirtualTime,
    ) -> (VirtualTime, VirtualTime) {
        let body = bytes_ticks(bytes.saturating_sub(1), self.machine.network.byte_ns);
        let service = self.ticks.gap + body;
        let (out, into) = (self.machine.card(from), self.machine.card(to));
        let left = self.cards[out][0].serve(self.now, at, service);
        let head = left + self.ticks.latency;
        let came = self.cards[into][1].serve(self.now, head, service);
        (left + service, came + body)
    }

    /// A core copies `bytes` from the memory of another core's region to that of its own, from `at` on; returns when it
    /// has done so.
    pub(super) fn copy(
        &mut self,
        from: usize,
        to: usize,
        bytes: usize,
        at: VirtualTime,
    ) -> VirtualTime {
        let (a, b) = (self.machine.region(from), self.machine.region(to));
        let parts = &self.machine.parts;
        let own = bytes_ticks(bytes, parts.copy_byte_ns);
        let read = bytes_ticks(bytes, parts.memory_byte_ns);
        let reads = self.memories[a].serve(self.now, at, read);
        let last = reads + own.max(read);
        if a == b {
            return last;
        }
        let passed = bytes_ticks(bytes, parts.port_byte_ns);
        let passes = self.ports[a].serve(self.now, reads, passed);
        last.max(passes + own.max(passed))
    }

    /// The servers that have served at least one request, with their names.
    pub(super) fn servers(&self) -> impl Iterator<Item = (String, &Server)> {
        let per_host = self.machine.cards.len().max(1);
        let cards = self.cards.iter().enumerate().flat_map(move |(at, both)| {
            let (host, card) = (at / per_host, at % per_host);
            let (out, into) = (
                HostPart::CardOut { host, card },
                HostPart::CardIn { host, card },
            );
            [out, into].into_iter().zip(both)
        });
        let named = |part: fn(usize) -> HostPart, servers| {
            let all: std::iter::Enumerate<std::slice::Iter<'_, Server>> = servers;
            all.map(move |(at, server)| (part(at), server))
        };
        let cpus = named(
            |rank| HostPart::Processor { rank },
            self.cpus.iter().enumerate(),
        );
        let memories = named(
            |region| HostPart::Memory { region },
            self.memories.iter().enumerate(),
        );
        let ports = named(
            |region| HostPart::Port { region },
            self.ports.iter().enumerate(),
        );
        let all = cards.chain(cpus).chain(memories).chain(ports);
        all.filter(|(_, server)| server.served() > 0)
            .map(|(part, server)| (part.to_string(), server))
    }
}

/// What a rank gives another one.
pub(super) enum Given {
    Notification,
    Message(Rc<[u8]>),
    Loan(Loan),
}
