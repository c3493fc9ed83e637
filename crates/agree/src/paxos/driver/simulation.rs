//! Drivers in virtual time: members die, restart, are stopped and get no CPU, packets are lost, late, doubled and out of order.
//!
//! One number makes a whole run. First there are faults, and nothing wrong may be delivered; then there are none, and all
//! that is submitted must be delivered everywhere within a bounded time.

mod tests;

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

use fastrand::Rng;

use super::*;
use crate::paxos::routes::tests::binary;
use crate::paxos::{Acceptor, Configuration, ConfigurationLog};

/// Faults happen until then.
const FAULTS_NS: u64 = 20_000_000;
/// Commands are submitted until then.
const SUBMITS_NS: u64 = 30_000_000;
/// All that was submitted is delivered until then.
const END_NS: u64 = 60_000_000;

type Command = u32;

/// How a run is made.
#[derive(Clone, Copy, Debug)]
struct Weather {
    size: usize,
    /// Of 1000 packets.
    lost: u32,
    doubled: u32,
    late: u32,
    /// Of 1000 ticks of a member.
    dies: u32,
    pauses: u32,
    submits: u32,
    lag_max: u64,
    /// Members are told which others are dead.
    tells_ends: bool,
}

impl Weather {
    fn new(seed: u64) -> (Self, Rng) {
        let mut random = Rng::with_seed(seed);
        let mut often = |choices: &[u32]| choices[random.usize(..choices.len())];
        let weather = Self {
            size: often(&[2, 3, 3, 4, 5]) as usize,
            lost: often(&[0, 0, 10, 100, 300]),
            doubled: often(&[0, 10, 100]),
            late: often(&[0, 10, 100]),
            dies: often(&[0, 2, 5, 10]),
            pauses: often(&[0, 2, 5, 10]),
            submits: often(&[50, 200, 800]),
            lag_max: often(&[8, 64, 1000]).into(),
            tells_ends: seed % 2 == 1,
        };
        (weather, random)
    }
}

enum Happening {
    Packet(usize, usize, Packet<Command>),
    Tick(usize),
    Restart(usize),
}

struct Queued {
    time_ns: u64,
    /// Of those at one time the first comes first.
    number: u64,
    happening: Happening,
}

impl PartialEq for Queued {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Queued {}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Queued {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time_ns, self.number).cmp(&(other.time_ns, other.number))
    }
}

/// The network and the shared memory, which outlive the members.
struct Io {
    me: usize,
    now_ns: u64,
    random: Rng,
    weather: Weather,
    log: ConfigurationLog<Submission<Command>>,
    acceptors: Vec<Acceptor<Submission<Command>>>,
    queue: BinaryHeap<Reverse<Queued>>,
    count: u64,
    /// All that is below may have been dropped by acceptors.
    floor: u64,
    /// The members that pause now because they get no CPU, a bit each.
    starved: u64,
}

struct Machine {
    driver: Driver<Command>,
    paused_until_ns: u64,
    /// It pauses because it gets no CPU, not because it was stopped.
    starves: bool,
    is_dead: bool,
    /// After a restart, until it has delivered what others had at that time.
    is_empty_below: u64,
    /// What it has delivered: the state of its user.
    delivered: Vec<(u64, Submission<Command>)>,
    /// How many commands of each origin are in it.
    numbers: BTreeMap<u64, u64>,
}

/// What was seen by anybody.
#[derive(Default)]
struct Seen {
    /// The command of each index.
    chosen: BTreeMap<u64, (u64, u64)>,
    /// Commands that were told to their own origin.
    acknowledged: Vec<(u64, u64)>,
    /// Commands that were submitted in quiet weather.
    quiet: usize,
    deaths: u32,
    restarts: u32,
    snapshots: u32,
    configurations: u64,
    /// When each index was first delivered by anybody.
    first_ns: BTreeMap<u64, u64>,
    /// When members delivered what another one had delivered before, and how long before.
    lags: Vec<(u64, u64)>,
}

impl Io {
    fn at(&mut self, time_ns: u64, happening: Happening) {
        self.count += 1;
        self.queue.push(Reverse(Queued {
            time_ns,
            number: self.count,
            happening,
        }));
    }

    fn note_floor(&mut self, message: &Message<Submission<Command>>) {
        if let Message::Accept { floor, .. } = message {
            self.floor = self.floor.max(*floor);
        }
    }

    fn is_quiet(&self) -> bool {
        self.now_ns >= FAULTS_NS
    }

    fn chance(&mut self, of_1000: u32) -> bool {
        !self.is_quiet() && self.random.u32(..1000) < of_1000
    }
}

impl Transport<Command> for Io {
    fn send(&mut self, to: usize, packet: Packet<Command>) {
        if let Packet::Protocol(message) | Packet::Broadcast { message, .. } = &packet {
            self.note_floor(message);
        }
        if self.chance(self.weather.lost) {
            return;
        }
        let copies = 1 + u32::from(self.chance(self.weather.doubled));
        for _ in 0..copies {
            let longest = if self.chance(self.weather.late) {
                5_000_000
            } else {
                20_000
            };
            let delay = self.random.u64(1_000..longest);
            let happening = Happening::Packet(to, self.me, packet.clone());
            self.at(self.now_ns + delay, happening);
        }
    }

    fn is_starved(&mut self, member: usize, _since_ns: u64, _now_ns: u64) -> bool {
        self.starved >> member & 1 == 1
    }
}

impl SharedMemory<Command> for Io {
    fn last(&mut self) -> (u64, Configuration<Submission<Command>>) {
        let (position, last) = self.log.last();
        (position, last.clone())
    }

    fn position(&mut self) -> u64 {
        self.log.last().0
    }

    fn append(&mut self, position: u64, configuration: Configuration<Submission<Command>>) -> bool {
        self.floor = self.floor.max(configuration.carried.floor());
        self.log.append(position, configuration)
    }

    fn accept(
        &mut self,
        of: usize,
        message: &Message<Submission<Command>>,
    ) -> Option<Answer<Submission<Command>>> {
        self.note_floor(message);
        self.acceptors[of].step(message)
    }
}

struct Simulation {
    io: Io,
    machines: Vec<Machine>,
    seen: Seen,
    options: Options,
    starts: u64,
    /// Whether what is accepted goes over trees.
    over_trees: bool,
}

impl Simulation {
    fn new(seed: u64, over_trees: bool) -> Self {
        let (weather, random) = Weather::new(seed);
        Self::within(weather, random, over_trees)
    }

    fn within(weather: Weather, random: Rng, over_trees: bool) -> Self {
        let io = Io {
            me: 0,
            now_ns: 0,
            random,
            weather,
            log: ConfigurationLog::new(weather.size),
            acceptors: vec![Acceptor::new(); weather.size],
            queue: BinaryHeap::new(),
            count: 0,
            floor: 0,
            starved: 0,
        };
        let options = Options {
            pending_max: 8,
            lag_max: weather.lag_max,
            ..Options::default()
        };
        let mut simulation = Self {
            io,
            machines: Vec::new(),
            seen: Seen::default(),
            options,
            starts: 0,
            over_trees,
        };
        for me in 0..weather.size {
            let machine = simulation.machine(me);
            simulation.machines.push(machine);
            simulation.io.at(0, Happening::Tick(me));
        }
        simulation
    }

    /// A member that starts with nothing.
    fn machine(&mut self, me: usize) -> Machine {
        self.starts += 1;
        let (size, now_ns) = (self.io.weather.size, self.io.now_ns);
        let mut driver = Driver::new(me, size, self.starts, self.options, now_ns);
        if self.over_trees {
            driver.set_routes(binary(size));
        }
        Machine {
            driver,
            paused_until_ns: 0,
            starves: false,
            is_dead: false,
            is_empty_below: 0,
            delivered: Vec::new(),
            numbers: BTreeMap::new(),
        }
    }

    /// Runs to the end, or to what must not be.
    fn run(&mut self) -> Result<(), String> {
        self.run_until(END_NS)?;
        self.seen.configurations = self.io.log.last().0;
        self.end()
    }

    fn run_until(&mut self, end_ns: u64) -> Result<(), String> {
        while let Some(Reverse(queued)) = self.io.queue.pop() {
            if queued.time_ns > end_ns {
                self.io.queue.push(Reverse(queued));
                break;
            }
            let (time_ns, happening) = (queued.time_ns, queued.happening);
            self.io.now_ns = time_ns;
            let (Happening::Packet(me, ..) | Happening::Tick(me) | Happening::Restart(me)) =
                happening;
            let paused_until_ns = self.machines[me].paused_until_ns;
            if paused_until_ns > time_ns {
                self.io.at(paused_until_ns, happening);
                continue;
            }
            self.io.me = me;
            let machine = &mut self.machines[me];
            match happening {
                Happening::Restart(_) => {
                    let all = self
                        .seen
                        .chosen
                        .last_key_value()
                        .map_or(0, |(index, _)| index + 1);
                    self.machines[me] = self.machine(me);
                    self.machines[me].is_empty_below = all;
                    self.seen.restarts += 1;
                    self.io.at(time_ns, Happening::Tick(me));
                }
                _ if machine.is_dead => continue,
                Happening::Packet(_, from, packet) => {
                    machine.driver.receive(from, packet, time_ns, &mut self.io)
                }
                Happening::Tick(_) => self.tick(me)?,
            }
            self.events(me)?;
        }
        Ok(())
    }

    fn tick(&mut self, me: usize) -> Result<(), String> {
        let now_ns = self.io.now_ns;
        if self.io.chance(self.io.weather.dies) && self.may_die(me) {
            self.seen.deaths += 1;
            self.machines[me].is_dead = true;
            let away_ns = self.io.random.u64(100_000..15_000_000);
            if self.io.random.bool() {
                self.io.at(now_ns + away_ns, Happening::Restart(me));
            }
            return Ok(());
        }
        if self.io.chance(self.io.weather.pauses) {
            let until = now_ns + self.io.random.u64(100_000..10_000_000);
            self.machines[me].paused_until_ns = until.min(FAULTS_NS);
            self.machines[me].starves = self.io.random.bool();
        }
        let lost = self.lost();
        self.io.starved = self.starved();
        let machine = &mut self.machines[me];
        machine.driver.set_lost(lost);
        machine.driver.tick(now_ns, &mut self.io);
        if now_ns < SUBMITS_NS && self.io.random.u32(..1000) < self.io.weather.submits {
            let command = self.io.random.u32(..);
            let is_quiet = self.io.is_quiet();
            if machine.driver.submit(command, now_ns, &mut self.io).is_ok() && is_quiet {
                self.seen.quiet += 1;
            }
        }
        let next = now_ns + self.io.random.u64(100_000..200_000);
        self.io.at(next, Happening::Tick(me));
        Ok(())
    }

    /// The members that are dead, a bit each, where their end is told.
    fn lost(&self) -> u64 {
        let dead = self.machines.iter().enumerate();
        let dead = dead.filter(|(_, it)| it.is_dead && self.io.weather.tells_ends);
        dead.fold(0, |bits, (member, _)| bits | 1 << member)
    }

    /// The members that pause because they get no CPU, a bit each.
    fn starved(&self) -> u64 {
        let starved = self
            .machines
            .iter()
            .enumerate()
            .filter(|(_, it)| !it.is_dead && it.starves && it.paused_until_ns > self.io.now_ns);
        starved.fold(0, |bits, (member, _)| bits | 1 << member)
    }

    /// The memory that is shared is not all: what is dropped there must be with a member that lives.
    fn may_die(&self, me: usize) -> bool {
        let others = self
            .machines
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != me);
        let mut living = others.filter(|(_, it)| !it.is_dead);
        living.any(|(_, it)| it.driver.snapshot().next >= self.io.floor.max(it.is_empty_below))
    }

    fn events(&mut self, me: usize) -> Result<(), String> {
        while let Some(event) = self.machines[me].driver.event() {
            match event {
                Event::Delivered { index, submission } => self.delivered(me, index, submission)?,
                Event::Behind { floor } => self.install(me, floor),
            }
        }
        Ok(())
    }

    /// Agreement, and each command once and in the order of its origin.
    fn delivered(
        &mut self,
        me: usize,
        index: u64,
        submission: Submission<Command>,
    ) -> Result<(), String> {
        let machine = &mut self.machines[me];
        let name = (submission.origin, submission.number);
        if submission.origin == machine.driver.origin {
            self.seen.acknowledged.push(name);
        }
        // Told by a fault.
        if index == u64::MAX {
            return Ok(());
        }
        let next = machine.numbers.entry(submission.origin).or_default();
        *next += 1;
        if *next != submission.number + 1 {
            return Err(format!(
                "member {me} delivers {name:?} at {index} out of order or twice"
            ));
        }
        machine.delivered.push((index, submission));
        let now_ns = self.io.now_ns;
        let first_ns = *self.seen.first_ns.entry(index).or_insert(now_ns);
        self.seen.lags.push((now_ns, now_ns - first_ns));
        let chosen = *self.seen.chosen.entry(index).or_insert(name);
        if chosen != name {
            return Err(format!(
                "member {me} delivers {name:?} at {index}, another one {chosen:?}"
            ));
        }
        Ok(())
    }

    /// The user copies the state of a member that has all that was dropped, if there is one now.
    fn install(&mut self, me: usize, floor: u64) {
        let others = (0..self.machines.len()).filter(|other| *other != me);
        let has_all = |other: &usize| {
            let machine = &self.machines[*other];
            !machine.is_dead && machine.driver.snapshot().next >= floor
        };
        let Some(other) = others.into_iter().find(has_all) else {
            return;
        };
        let other = &self.machines[other];
        let (snapshot, state, numbers) = (
            other.driver.snapshot(),
            other.delivered.clone(),
            other.numbers.clone(),
        );
        let machine = &mut self.machines[me];
        if machine.driver.install(snapshot, &mut self.io) {
            (machine.delivered, machine.numbers) = (state, numbers);
            self.seen.snapshots += 1;
        }
    }

    /// All members that live have delivered the same, with all that was acknowledged and all of their own.
    fn end(&self) -> Result<(), String> {
        let living: Vec<_> = self.machines.iter().filter(|it| !it.is_dead).collect();
        let longest = living
            .iter()
            .map(|it| it.delivered.len())
            .max()
            .unwrap_or(0);
        for machine in &living {
            let me = machine.driver.me;
            if machine.delivered.len() != longest || machine.delivered != living[0].delivered {
                let lengths: Vec<_> = living
                    .iter()
                    .map(|it| (it.delivered.len(), it.driver.roles()))
                    .collect();
                return Err(format!(
                    "member {me} has delivered other commands in the end: {lengths:?}"
                ));
            }
            let kept_max =
                self.options.lag_max + 4 * (self.options.pending_max * self.machines.len()) as u64;
            if machine.driver.leads() && machine.driver.kept() > kept_max {
                let kept = machine.driver.kept();
                return Err(format!(
                    "member {me} keeps {kept} entries, {kept_max} are enough"
                ));
            }
            if machine.driver.pending() > 0 {
                let (pending, roles) = (machine.driver.pending(), machine.driver.roles());
                return Err(format!(
                    "member {me} waits for {pending} commands, roles {roles:?}"
                ));
            }
        }
        let all: std::collections::BTreeSet<_> = living[0]
            .delivered
            .iter()
            .map(|(_, it)| (it.origin, it.number))
            .collect();
        match self.seen.acknowledged.iter().find(|it| !all.contains(it)) {
            Some(lost) => Err(format!("{lost:?} was acknowledged and is lost")),
            None => Ok(()),
        }
    }
}
