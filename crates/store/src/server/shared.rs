//! What all event loops share.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use corecast_wire::sync::{AtomicU32, AtomicU64, Ordering};
use mio::Waker;

use super::ServerOptions;
use super::client_list::{ClientEntry, SharedActivity};
use super::clock::now;
use super::pause::Pause;
use crate::counts::{COUNTERS, Counts};
use crate::durability::Durability;

/// What all event loops share. Words that are counted are told by `INFO` and order nothing.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) options: ServerOptions,
    pub(super) address: SocketAddr,
    pub(super) started: Instant,
    /// The same, in seconds since 1970.
    pub(super) started_at: i64,
    /// What tells this run of the server from others: 40 digits, as those of Redis.
    pub(super) run_id: String,
    stopped: AtomicU32,
    pub(super) pause: Pause,
    /// Clients with a command that waits for the end of a pause.
    pub(super) paused: AtomicU64,
    /// The settings that `CONFIG SET` changes: most clients, and seconds that one may be idle, 0 for ever.
    pub(super) clients_max: AtomicU64,
    pub(super) idle_seconds_max: AtomicU64,
    /// Connections so far, and the number before that of the first.
    pub(super) connections: AtomicU64,
    clients_before: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) cut_off: AtomicU64,
    /// Commands of the last second.
    pub(super) commands_rate: AtomicU64,
    /// `None` where all is in memory only.
    pub(super) durability: Option<Durability>,
    // Whoever holds one of these does not take the other.
    clients: Mutex<BTreeMap<u64, ClientEntry>>,
    loops: Mutex<Vec<Entrance>>,
    /// What had been counted when it was last asked to count anew.
    before: Mutex<CountsBefore>,
}

/// What is no longer shown of what was counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CountsBefore {
    pub(super) counts: [u64; COUNTERS],
    pub(super) connections: u64,
    pub(super) expired: u64,
}

/// How connections come to an event loop.
#[derive(Debug)]
struct Entrance {
    waker: Waker,
    /// Connections that are on their way to it.
    accepted: Vec<Accepted>,
    /// Whether there are such, or clients were killed.
    has_news: bool,
    served: usize,
    counts: Arc<Counts>,
}

/// A connection that is new.
#[derive(Debug)]
pub(super) struct Accepted {
    /// Its number.
    pub(super) id: u64,
    pub(super) stream: TcpStream,
    pub(super) activity: SharedActivity,
}

impl Shared {
    pub(super) fn new(
        options: ServerOptions,
        address: SocketAddr,
        durability: Option<Durability>,
    ) -> Self {
        let number = |value: u64| AtomicU64::new(value);
        Self {
            address,
            started: Instant::now(),
            started_at: now() / 1000,
            run_id: (0..40).map(|_| fastrand::digit(16)).collect(),
            stopped: AtomicU32::new(0),
            pause: Pause::default(),
            paused: number(0),
            clients_max: number(options.clients_max as u64),
            idle_seconds_max: number(options.idle_max.map_or(0, |it| it.as_secs().max(1))),
            connections: number(0),
            clients_before: number(0),
            refused: number(0),
            cut_off: number(0),
            commands_rate: number(0),
            durability,
            clients: Mutex::default(),
            loops: Mutex::default(),
            before: Mutex::default(),
            options,
        }
    }

    /// Has clients be numbered from the next number on.
    pub(super) fn number_clients_after(&self, before: u64) {
        // Relaxed: only names.
        self.clients_before.store(before, Ordering::Relaxed);
    }

    pub(super) fn stop(&self) {
        // Relaxed: whoever sees it only ends.
        self.stopped.store(1, Ordering::Relaxed);
        self.wake_all();
    }

    /// Counts clients whose commands no longer wait for the end of a pause, and those that do from now on.
    pub(super) fn count_paused(&self, fewer: usize, more: usize) {
        // Relaxed: a number for people.
        self.paused.fetch_add(more as u64, Ordering::Relaxed);
        self.paused.fetch_sub(fewer as u64, Ordering::Relaxed);
    }

    /// Ends the pauses of all event loops.
    pub(super) fn wake_all(&self) {
        for entrance in &*self.loops() {
            let _ = entrance.waker.wake();
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) != 0 || corecast_wire::ending::is_asked()
    }

    pub(super) fn clients(&self) -> MutexGuard<'_, BTreeMap<u64, ClientEntry>> {
        // What is in there holds whatever panicked.
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn loops(&self) -> MutexGuard<'_, Vec<Entrance>> {
        self.loops.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the event loop of the next number.
    pub(super) fn add_loop(&self, waker: Waker, counts: Arc<Counts>) {
        self.loops().push(Entrance {
            waker,
            accepted: Vec::new(),
            has_news: false,
            served: 0,
            counts,
        });
    }

    /// What all event loops have counted since the server began.
    pub(super) fn counts(&self) -> [u64; COUNTERS] {
        let loops = self.loops();
        let all = loops.iter().map(|it| it.counts.all());
        all.fold([0; COUNTERS], |sum, counts| {
            std::array::from_fn(|at| sum[at] + counts[at])
        })
    }

    /// What had been counted when it was last asked to count anew.
    pub(super) fn counts_before(&self) -> CountsBefore {
        *self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows from now on what is counted from now on. So many keys have expired.
    pub(super) fn count_anew(&self, expired: u64) {
        let before = CountsBefore {
            counts: self.counts(),
            connections: self.connections.load(Ordering::Relaxed),
            expired,
        };
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = before;
        for count in [&self.refused, &self.cut_off] {
            count.store(0, Ordering::Relaxed);
        }
    }

    /// Gives a new connection to the event loop that has fewest.
    pub(super) fn admit(&self, stream: TcpStream, peer: SocketAddr) {
        // Relaxed: only a name.
        let before = self.clients_before.load(Ordering::Relaxed);
        let id = before + self.connections.fetch_add(1, Ordering::Relaxed) + 1;
        let event_loop = self.serve_one_more();
        let since = Instant::now();
        let activity = SharedActivity::new(since);
        self.clients().insert(
            id,
            ClientEntry {
                peer,
                local: stream.local_addr().ok(),
                descriptor: stream.as_raw_fd(),
                since,
                name: Vec::new(),
                event_loop,
                killed: false,
                activity: activity.clone(),
            },
        );
        let entrance = &mut self.loops()[event_loop];
        entrance.accepted.push(Accepted {
            id,
            stream,
            activity,
        });
        entrance.has_news = true;
        let _ = entrance.waker.wake();
    }

    /// The event loop that serves fewest connections, which serves one more from now on.
    fn serve_one_more(&self) -> usize {
        let mut loops = self.loops();
        let all = loops.iter_mut().enumerate();
        let (number, fewest) = all
            .min_by_key(|(_, entrance)| entrance.served)
            .expect("a server has event loops");
        fewest.served += 1;
        number
    }

    /// The connections that are new to an event loop; `None` if there are none, and no client was killed either.
    pub(super) fn take_news(&self, event_loop: usize) -> Option<Vec<Accepted>> {
        let entrance = &mut self.loops()[event_loop];
        let has_news = std::mem::take(&mut entrance.has_news);
        has_news.then(|| std::mem::take(&mut entrance.accepted))
    }

    /// Forgets a connection that was closed.
    pub(super) fn leave(&self, id: u64) {
        // By itself, so that the clients are let go of before the event loops are taken.
        let left = self.clients().remove(&id);
        if let Some(entry) = left {
            self.loops()[entry.event_loop].served -= 1;
        }
    }

    /// Has an event loop look for clients that were killed.
    pub(super) fn tell_killed(&self, event_loop: usize) {
        self.loops()[event_loop].has_news = true;
        self.wake(event_loop);
    }

    /// Ends the pause of an event loop.
    pub(super) fn wake(&self, event_loop: usize) {
        let _ = self.loops()[event_loop].waker.wake();
    }

    /// Why writes are refused, if they are.
    pub(super) fn refuses_writes(&self) -> Option<&str> {
        self.durability.as_ref()?.failed()
    }
}
