//! One thread of the server: which connections are ready, and the clock.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use corecast_wire::sync::Ordering;
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};
use slab::Slab;

use super::clock;
use super::connection::{Connection, SCRATCH_BYTES, State};
use super::listener::KEEP_ALIVE;
use super::pause::Waits;
use super::pipeline::Pipeline;
use super::session::Session;
use super::shared::{Accepted, Shared};
use super::soon::Soon;
use crate::counts::Counter;
use crate::durability::{Commit, Durability};
use crate::keyspace::{Read, Response};
use crate::store::StoreHandle;

/// How often keys that have expired are removed and clients looked at that may have taken too long.
const TICK: Duration = Duration::from_millis(100);
/// The time of one tick in which keys are removed.
const REMOVING_MAX: Duration = Duration::from_millis(10);
/// Connections that are accepted before others have their turn.
const ACCEPTED_MAX: usize = 128;

const LISTENER: Token = Token(usize::MAX - 1);
const WAKER: Token = Token(usize::MAX - 2);
const BELL: Token = Token(usize::MAX - 3);

/// One thread of the server.
#[derive(Debug)]
pub(super) struct EventLoop {
    number: usize,
    poll: Poll,
    listener: Option<TcpListener>,
    /// The listener may have more connections.
    accepts: bool,
    connections: Slab<Connection>,
    /// Connections that have something to do without waiting, and those of the next round.
    ready: Vec<usize>,
    /// Connections whose replies wait for a commit.
    held: Vec<usize>,
    /// Those whose replies were put off until the others of the turn were served, and whether they are now: a client of many
    /// connections is woken once for all then.
    replies: Vec<usize>,
    puts_off: bool,
    /// Connections with a request that waits for the end of a pause.
    paused: BTreeSet<usize>,
    /// Another event loop is at a commit, and wakes this one.
    waits: bool,
    pipeline: Pipeline,
    shared: Arc<Shared>,
    /// Bytes that are held for all connections.
    bytes: usize,
    ticked: Instant,
    /// When commands were counted last, and how many there were.
    counted: (Instant, u64),
}

impl EventLoop {
    pub(super) fn new(
        number: usize,
        mut listener: Option<TcpListener>,
        mut store: StoreHandle,
        shared: Arc<Shared>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        if let Some(listener) = &mut listener {
            poll.registry()
                .register(listener, LISTENER, Interest::READABLE)?;
        }
        if let Some(replica) = store.replica() {
            poll.registry()
                .register(replica.bell(), BELL, Interest::READABLE)?;
        }
        let waker = Waker::new(poll.registry(), WAKER)?;
        shared.add_loop(waker, Arc::clone(store.counts()));
        Ok(Self {
            number,
            poll,
            accepts: listener.is_some(),
            listener,
            connections: Slab::new(),
            ready: Vec::new(),
            held: Vec::new(),
            replies: Vec::new(),
            puts_off: false,
            paused: BTreeSet::new(),
            waits: false,
            pipeline: Pipeline::new(store),
            shared,
            bytes: 0,
            ticked: Instant::now(),
            counted: (Instant::now(), 0),
        })
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Serves until the server is stopped.
    pub(super) fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        let mut scratch = vec![0; SCRATCH_BYTES];
        let mut turn = Vec::new();
        let mut soon = Soon::new(self.may_look());
        while !self.shared.is_stopped() {
            let held = !self.held.is_empty() && !self.waits;
            let has_writes = self.pipeline.has_writes();
            let idle = self.ready.is_empty() && !self.accepts && !held && !has_writes;
            let mut pause = if idle { TICK } else { Duration::ZERO };
            if !self.paused.is_empty() {
                let left = self.shared.pause.left().map_or(0, |it| it.1);
                pause = pause.min(Duration::from_millis(left));
            }
            if let Some(replica) = self.pipeline.store().replica() {
                match idle {
                    true => pause = pause.min(replica.sleeps()),
                    false => replica.take(),
                }
            }
            let mut poll = |pause| match self.poll.poll(&mut events, Some(pause)) {
                Err(error) if error.kind() != ErrorKind::Interrupted => Err(error),
                _ => Ok(!events.is_empty()),
            };
            let comes_soon = !pause.is_zero() && soon.look(|| poll(Duration::ZERO))?;
            let has_come = comes_soon || poll(pause)?;
            soon.note(has_come);
            if let Some(replica) = self.pipeline.store().replica() {
                replica.wakes();
                replica.goes_on()?;
            }
            let now = Instant::now();
            std::mem::swap(&mut turn, &mut self.ready);
            for event in &events {
                match event.token() {
                    LISTENER => self.accepts = true,
                    WAKER => self.enter(now),
                    // It was woken, and that is all.
                    BELL => {}
                    Token(key) => {
                        // It may have been closed by an event before.
                        if let Some(connection) = self.connections.get_mut(key) {
                            let closed = event.is_read_closed() || event.is_error();
                            if event.is_readable() || closed {
                                connection.set_readable(closed);
                            }
                            turn.push(key);
                        }
                    }
                }
            }
            if self.accepts {
                self.accept();
            }
            if !self.paused.is_empty() && self.shared.pause.waits() == Waits::Nothing {
                self.shared.count_paused(self.paused.len(), 0);
                turn.extend(std::mem::take(&mut self.paused));
            }
            self.puts_off = turn.len() > 1;
            for key in turn.drain(..) {
                self.advance(key, &mut scratch, now);
                self.answer(&mut scratch, now);
            }
            self.pipeline.agree();
            self.answer(&mut scratch, now);
            self.puts_off = false;
            std::mem::swap(&mut turn, &mut self.replies);
            for key in turn.drain(..) {
                self.advance(key, &mut scratch, now);
            }
            if now.duration_since(self.ticked) >= TICK {
                self.ticked = now;
                self.tick(now);
            }
            self.commit(&mut scratch, now);
        }
        if let Some(replica) = self.pipeline.store().replica() {
            replica.close();
        }
        Ok(())
    }

    /// Whether looking before a sleep takes no processor from others: replicas that are processes are also woken in other ways, and
    /// somebody has to ask.
    fn may_look(&mut self) -> bool {
        let processors = available_parallelism().map_or(1, NonZero::get);
        self.pipeline.store().replica().is_none() && self.shared.options.replicas < processors
    }

    /// Lets a connection do what it can.
    fn advance(&mut self, key: usize, scratch: &mut [u8], now: Instant) {
        let Some(connection) = self.connections.get_mut(key) else {
            return;
        };
        let before = connection.bytes();
        let state = connection.advance(
            &mut self.pipeline,
            &self.shared,
            scratch,
            now,
            self.puts_off,
        );
        let after = connection.bytes();
        connection.note();
        let (came, went) = connection.take_traffic();
        let counts = self.pipeline.store().counts();
        counts.add(Counter::InputBytes, came);
        counts.add(Counter::OutputBytes, went);
        if connection.is_paused() && self.paused.insert(key) {
            self.shared.count_paused(0, 1);
        }
        self.bytes = self.bytes + after - before;
        match state {
            State::Waits => {}
            State::Ready => self.ready.push(key),
            State::Held => self.held.push(key),
            State::Replies => self.replies.push(key),
            State::Ended => self.close(key),
        }
        if after > before {
            self.cut_off_largest(self.shared.options.buffers_bytes_max);
        }
    }

    /// Gives clients the answers to what was agreed on, and lets them go on.
    fn answer(&mut self, scratch: &mut [u8], now: Instant) {
        for (asker, replies) in self.pipeline.answers() {
            let depends_on = self.pipeline.depends_on();
            // It may have been closed meanwhile, and another one have its place.
            let Some(connection) = self.connections.get_mut(asker.key) else {
                continue;
            };
            let before = connection.bytes();
            connection.answer(asker, replies, depends_on);
            self.bytes = self.bytes + connection.bytes() - before;
            self.advance(asker.key, scratch, now);
        }
    }

    /// Has written down what this turn has seen, and lets the replies go that depend on it.
    fn commit(&mut self, scratch: &mut [u8], now: Instant) {
        let Some(durability) = &self.shared.durability else {
            return;
        };
        self.waits = false;
        match durability {
            Durability::Own(persistence) => {
                let journal = &persistence.journal;
                if self.pipeline.store().seen() > journal.released() && journal.failed().is_none() {
                    match journal.commit(self.number) {
                        Commit::Waits => self.waits = true,
                        Commit::Done(waiting) => {
                            waiting.into_iter().for_each(|it| self.shared.wake(it));
                        }
                    }
                }
            }
            // Whoever writes the log rings the bell.
            Durability::Group(_) => {
                self.waits = true;
                if let Some(replica) = self.pipeline.store().replica() {
                    replica.note_released();
                }
            }
        }
        let mut held = std::mem::take(&mut self.held);
        held.sort_unstable();
        held.dedup();
        for key in held {
            self.advance(key, scratch, now);
        }
        let waits = !self.held.is_empty();
        if let Some(replica) = self.pipeline.store().replica() {
            replica.set_waits(waits);
        }
    }

    /// Cuts clients off until no more is held than may be, or for one of them only.
    fn cut_off_largest(&mut self, bytes_max: usize) {
        while self.bytes > bytes_max {
            let mut holding = self.connections.iter().filter(|(_, it)| it.bytes() > 0);
            let largest = holding.clone().max_by_key(|(_, it)| it.bytes());
            let Some((key, _)) = largest.filter(|_| holding.nth(1).is_some()) else {
                return;
            };
            self.shared.cut_off.fetch_add(1, Ordering::Relaxed);
            self.close(key);
        }
    }

    fn close(&mut self, key: usize) {
        let mut connection = self.connections.remove(key);
        if self.paused.remove(&key) {
            self.shared.count_paused(1, 0);
        }
        self.bytes -= connection.bytes();
        let _ = self.poll.registry().deregister(connection.stream());
        self.shared.leave(connection.session.id);
    }

    /// Takes new connections from the listener, and gives each to an event loop.
    fn accept(&mut self) {
        let Some(listener) = &self.listener else {
            return;
        };
        for _ in 0..ACCEPTED_MAX {
            match listener.accept() {
                Ok((stream, peer)) => admit(&self.shared, stream.into(), peer),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                // Either there is none, or there are too many files: the next tick tries again.
                Err(_) => {
                    self.accepts = false;
                    return;
                }
            }
        }
    }

    /// Takes up the connections that were given to this event loop, and drops those that were killed.
    fn enter(&mut self, now: Instant) {
        let Some(accepted) = self.shared.take_news(self.number) else {
            return;
        };
        for Accepted {
            id,
            stream,
            activity,
        } in accepted
        {
            let mut stream = mio::net::TcpStream::from_std(stream);
            let entry = self.connections.vacant_entry();
            let interest = Interest::READABLE | Interest::WRITABLE;
            let registry = self.poll.registry();
            if registry
                .register(&mut stream, Token(entry.key()), interest)
                .is_err()
            {
                self.shared.leave(id);
                continue;
            }
            let session = Session::new(id, self.shared.options.password.is_none());
            self.ready.push(entry.key());
            let key = entry.key();
            entry.insert(Connection::new(key, stream, session, activity, now));
        }
        let clients = self.shared.clients();
        let killed = |id| clients.get(&id).is_some_and(|entry| entry.killed);
        let keys = self.connections.iter();
        let keys = keys.filter(|(_, it)| !it.session.ends && killed(it.session.id));
        let keys: Vec<usize> = keys.map(|(key, _)| key).collect();
        drop(clients);
        keys.into_iter().for_each(|key| self.close(key));
    }

    fn tick(&mut self, now: Instant) {
        self.accepts |= self.listener.is_some();
        let seconds = self.shared.idle_seconds_max.load(Ordering::Relaxed);
        let idle_max = (seconds > 0).then(|| Duration::from_secs(seconds));
        let late = self
            .connections
            .iter()
            .filter(|(_, it)| it.is_late(now, idle_max));
        for key in late.map(|(key, _)| key).collect::<Vec<_>>() {
            self.shared.cut_off.fetch_add(1, Ordering::Relaxed);
            self.close(key);
        }
        if self.number == 0 {
            self.count_commands(now);
        }
        self.remove_due(now);
        self.pipeline.store().add();
    }

    /// Tells how many commands come in a second.
    fn count_commands(&mut self, now: Instant) {
        let (at, before) = self.counted;
        let seconds = now.duration_since(at).as_secs_f64();
        if seconds >= 1.0 {
            let all = self.shared.counts()[Counter::Commands as usize];
            let rate = (all - before) as f64 / seconds;
            let rate = rate.round() as u64;
            // Relaxed: a number for people.
            self.shared.commands_rate.store(rate, Ordering::Relaxed);
            self.counted = (now, all);
        }
    }

    /// Brings the replica up to date, and removes keys that have expired.
    fn remove_due(&mut self, began: Instant) {
        loop {
            let now = clock::now();
            let store = self.pipeline.store();
            match store.read(Read::Facts { now }) {
                // One event loop does it for all.
                Response::Facts(facts) if facts.due && store.is_first(self.number) => {}
                _ => return,
            }
            store.remove_due(now);
            if began.elapsed() > REMOVING_MAX {
                return;
            }
        }
    }
}

/// Takes a new connection in, or turns it away and says why.
fn admit(shared: &Shared, stream: TcpStream, peer: SocketAddr) {
    let most = shared.clients_max.load(Ordering::Relaxed);
    let options = &shared.options;
    let refusal = match () {
        () if shared.clients().len() as u64 >= most => {
            Some("-ERR max number of clients reached\r\n")
        }
        () if options.protected && options.password.is_none() && !is_near(peer) => Some(
            "-DENIED Corecast is running in protected mode: it has no password, so it serves clients of its own \
             machine only. Start it with --password or with --no-protected-mode to serve others.\r\n",
        ),
        () => None,
    };
    if let Some(text) = refusal {
        shared.refused.fetch_add(1, Ordering::Relaxed);
        let _ = (&stream).write(text.as_bytes());
        return;
    }
    // Without these a connection works as well.
    let _ = stream.set_nodelay(true);
    let _ = rustix::net::sockopt::set_socket_keepalive(&stream, true);
    let _ = rustix::net::sockopt::set_tcp_keepidle(&stream, KEEP_ALIVE);
    shared.admit(stream, peer);
}

/// Whether a client is on this machine.
fn is_near(peer: SocketAddr) -> bool {
    peer.ip().to_canonical().is_loopback()
}
