//! Replicas and clients on cores in virtual time.

use corecast_agree::paxos::{
    Acceptor, Answer, Configuration, ConfigurationLog, Driver, Event, Message, Options, Packet,
    Routes, SharedMemory, Submission, Transport,
};
use corecast_model::CostModel;
use std::collections::BTreeMap;

use super::cores::{Cores, Time, Work, time};

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    client: usize,
    connection: usize,
    is_set: bool,
}

#[derive(Clone, Debug)]
enum Mail {
    Packet(Packet<Request>),
    Request(Request),
    Answer(Request),
    /// A plain broadcast.
    Broadcast(Request),
}

/// A core of clients.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// The core.
    pub(super) core: usize,
    /// The replica that it asks.
    pub(super) replica: usize,
    /// Each waits for an answer and then asks again.
    pub(super) connections: usize,
}

/// Who tells all replicas what is asked for.
pub(super) enum Protocol {
    /// 1Paxos: 0 leads and 1 accepts. Over trees, or the acceptor tells all.
    Paxos(Option<Routes>),
    /// Replica 0 tells its children and they theirs, these ones.
    Broadcast(Vec<Vec<usize>>),
}

/// A run.
pub(super) struct Setup {
    /// Costs of all cores.
    pub(super) costs: CostModel,
    pub(super) gigahertz: f64,
    /// The core of each replica.
    pub(super) replicas: Vec<usize>,
    pub(super) clients: Vec<Client>,
    pub(super) protocol: Protocol,
    /// Of 100 requests, those that change something.
    pub(super) sets: u32,
    /// Cycles that a message takes at its receiver beside its pairwise cost.
    pub(super) handling: f64,
}

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// What the replica that is last applies, thousands in a second.
    pub sets_per_ms: f64,
    /// Mean time from the request of a set until its answer, microseconds.
    pub response_us: f64,
}

/// Requests are asked from then on, cycles: by then 0 leads.
const ASKED_FROM: f64 = 20_000.0;
/// What happens between these is measured.
const MEASURED: [f64; 2] = [600_000.0, 4_000_000.0];

/// Nobody is taken for gone because it has much to do, and nothing is lost.
const PATIENT: Options = Options {
    heartbeat_ns: 500_000,
    leader_ns: u64::MAX / 4,
    acceptor_ns: u64::MAX / 4,
    resend_ns: u64::MAX / 4,
    pending_max: usize::MAX,
    lag_max: u64::MAX / 4,
};

struct Shared {
    cores: Cores<Mail>,
    /// The core of each replica.
    replicas: Vec<usize>,
    log: ConfigurationLog<Submission<Request>>,
    acceptors: Vec<Acceptor<Submission<Request>>>,
}

impl Transport<Request> for Shared {
    fn send(&mut self, to: usize, packet: Packet<Request>) {
        self.cores.send(self.replicas[to], Mail::Packet(packet));
    }
}

impl SharedMemory<Request> for Shared {
    fn last(&mut self) -> (u64, Configuration<Submission<Request>>) {
        let (position, configuration) = self.log.last();
        (position, configuration.clone())
    }

    fn position(&mut self) -> u64 {
        self.log.last().0
    }

    fn append(&mut self, position: u64, configuration: Configuration<Submission<Request>>) -> bool {
        self.log.append(position, configuration)
    }

    fn accept(
        &mut self,
        of: usize,
        message: &Message<Submission<Request>>,
    ) -> Option<Answer<Submission<Request>>> {
        self.acceptors[of].step(message)
    }
}

/// A part of the figures that is counted between the two times alone.
#[derive(Default)]
struct Counts {
    applied: Vec<u64>,
    answered: u64,
    waited: Time,
}

struct Cluster {
    shared: Shared,
    drivers: Vec<Driver<Request>>,
    /// Of a plain broadcast.
    children: Vec<Vec<usize>>,
    clients: Vec<Client>,
    /// When each client's connection asked last.
    asked: BTreeMap<(usize, usize), Time>,
    random: fastrand::Rng,
    sets: u32,
    gigahertz: f64,
    counts: Counts,
}

/// Runs for some milliseconds of virtual time. The same setup gives the same on every machine.
pub(super) fn run(setup: Setup) -> Outcome {
    let size = setup.replicas.len();
    let mut shared = Shared {
        cores: Cores::new(setup.costs, setup.handling),
        log: ConfigurationLog::new(size),
        acceptors: vec![Acceptor::new(); size],
        replicas: setup.replicas,
    };
    let (routes, children) = match setup.protocol {
        Protocol::Paxos(routes) => (Some(routes), Vec::new()),
        Protocol::Broadcast(children) => (None, children),
    };
    let driver = |(me, routes): (usize, Option<Routes>)| {
        let mut driver = Driver::new(me, size, me as u64, PATIENT, 0);
        if let Some(routes) = routes {
            driver.set_routes(routes);
        }
        driver
    };
    let drivers = routes.into_iter();
    let drivers = drivers.flat_map(|routes| (0..size).map(move |me| (me, routes.clone())));
    let drivers: Vec<_> = drivers.map(driver).collect();
    for me in 0..drivers.len() {
        shared.cores.tick_at(0, shared.replicas[me]);
    }
    for client in &setup.clients {
        shared.cores.tick_at(time(ASKED_FROM), client.core);
    }
    let counts = Counts {
        applied: vec![0; size],
        ..Counts::default()
    };
    let mut cluster = Cluster {
        shared,
        drivers,
        children,
        clients: setup.clients,
        asked: BTreeMap::new(),
        random: fastrand::Rng::with_seed(1),
        sets: setup.sets,
        gigahertz: setup.gigahertz,
        counts,
    };
    let [from, to] = MEASURED;
    while let Some((core, work)) = cluster.shared.cores.next(time(to)) {
        cluster.work(core, work);
        cluster.shared.cores.done();
    }
    let milliseconds = (to - from) / setup.gigahertz / 1e6;
    let counts = cluster.counts;
    let least = counts.applied.into_iter().min().unwrap_or(0);
    let cycles = counts.waited as f64 / 1000.0 / counts.answered as f64;
    Outcome {
        sets_per_ms: least as f64 / milliseconds,
        response_us: cycles / setup.gigahertz / 1000.0,
    }
}

impl Cluster {
    fn is_measured(&self) -> bool {
        let [from, to] = MEASURED.map(time);
        (from..to).contains(&self.shared.cores.now())
    }

    fn now_ns(&self) -> u64 {
        (self.shared.cores.now() as f64 / 1000.0 / self.gigahertz) as u64
    }

    fn work(&mut self, core: usize, work: Work<Mail>) {
        let replica = self.shared.replicas.iter().position(|it| *it == core);
        match (work, replica) {
            (Work::Tick, Some(me)) => {
                let now_ns = self.now_ns();
                self.drivers[me].tick(now_ns, &mut self.shared);
                let every = PATIENT.heartbeat_ns as f64 / 4.0 * self.gigahertz;
                let at = self.shared.cores.now() + time(every);
                self.shared.cores.tick_at(at, core);
                self.events(me);
            }
            (Work::Tick, None) => {
                let client = self.clients.iter().position(|it| it.core == core);
                let client = client.expect("a client");
                for connection in 0..self.clients[client].connections {
                    self.ask(client, connection);
                }
            }
            (Work::Message(from, Mail::Packet(packet)), Some(me)) => {
                let from = self.shared.replicas.iter().position(|it| *it == from);
                let (from, now_ns) = (from.expect("a replica"), self.now_ns());
                self.drivers[me].receive(from, packet, now_ns, &mut self.shared);
                self.events(me);
            }
            (Work::Message(_, Mail::Request(request)), Some(me)) => self.asked_for(me, request),
            (Work::Message(_, Mail::Broadcast(request)), Some(me)) => self.broadcast(me, request),
            (Work::Message(_, Mail::Answer(request)), None) => {
                let asked = self.asked[&(request.client, request.connection)];
                if request.is_set && self.is_measured() {
                    self.counts.answered += 1;
                    self.counts.waited += self.shared.cores.now() - asked;
                }
                self.ask(request.client, request.connection);
            }
            (work, _) => unreachable!("{work:?} at {core}"),
        }
    }

    fn ask(&mut self, client: usize, connection: usize) {
        let is_set = self.random.u32(..100) < self.sets;
        let request = Request {
            client,
            connection,
            is_set,
        };
        let now = self.shared.cores.now();
        self.asked.insert((client, connection), now);
        let replica = self.shared.replicas[self.clients[client].replica];
        self.shared.cores.send(replica, Mail::Request(request));
    }

    fn answer(&mut self, request: Request) {
        let client = self.clients[request.client].core;
        self.shared.cores.send(client, Mail::Answer(request));
    }

    fn asked_for(&mut self, me: usize, request: Request) {
        if !request.is_set {
            self.answer(request);
        } else if self.drivers.is_empty() {
            self.broadcast(me, request);
            self.answer(request);
        } else {
            let now_ns = self.now_ns();
            let number = self.drivers[me].submit(request, now_ns, &mut self.shared);
            number.expect("as much may be pending as is asked for");
            self.events(me);
        }
    }

    fn broadcast(&mut self, me: usize, request: Request) {
        for &child in &self.children[me] {
            let core = self.shared.replicas[child];
            self.shared.cores.send(core, Mail::Broadcast(request));
        }
        self.applied(me);
    }

    /// The replica that a client asked answers it.
    fn events(&mut self, me: usize) {
        while let Some(event) = self.drivers[me].event() {
            let Event::Delivered { submission, .. } = event else {
                unreachable!("nothing is lost")
            };
            self.applied(me);
            if submission.origin == me as u64 {
                self.answer(submission.command);
            }
        }
    }

    fn applied(&mut self, me: usize) {
        self.counts.applied[me] += u64::from(self.is_measured());
    }
}
