//! The store with its replicas.

use std::sync::{Arc, OnceLock};

use corecast_agree::{Handle, Options, Replicated};
use corecast_wire::shared_log;

use crate::counts::Counts;
use crate::keyspace::{Keyspace, OwnedRun, Read, Response, Write};
use crate::processes::ReplicaStore;

/// Writes by which a replica may lag: they and their values are kept until it has them.
const LOG_LEN: u64 = 1024;

/// A store with this in it.
pub(crate) fn new(replicas: usize, first: Keyspace) -> Replicated<Keyspace> {
    let options = Options {
        replicas,
        log_len: LOG_LEN,
        ..Options::default()
    };
    Replicated::new(options, first)
}

/// The way of an event loop to its replica.
#[derive(Debug)]
pub(crate) struct StoreHandle {
    way: Way,
    counts: Arc<Counts>,
}

#[derive(Debug)]
enum Way {
    /// The replicas are of one process.
    Threads(Box<ThreadHandle>),
    /// The replica is a process.
    Process(Box<ReplicaStore>),
}

/// One thread's way to a replica of its process.
///
/// The log keeps its last entries, a block of them, until more follow. Where they are large that is memory, so entries that
/// change nothing are added: at once, and again when all replicas have had time to apply what was large.
#[derive(Debug)]
pub(crate) struct ThreadHandle {
    handle: Handle<Keyspace>,
    /// How often more entries are to be added.
    additions: u32,
    /// Whether somebody writes down what is removed.
    is_followed: bool,
}

impl StoreHandle {
    pub(crate) fn new(handle: Handle<Keyspace>, is_followed: bool) -> Self {
        Self::by(Way::Threads(Box::new(ThreadHandle {
            handle,
            additions: 0,
            is_followed,
        })))
    }

    pub(crate) fn of_replica(replica: ReplicaStore) -> Self {
        Self::by(Way::Process(Box::new(replica)))
    }

    fn by(way: Way) -> Self {
        Self {
            way,
            counts: Arc::default(),
        }
    }

    /// What the event loop counts.
    pub(crate) fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }

    /// How many entries of the order what it was answered depends on; for whoever writes them down.
    pub(crate) fn seen(&self) -> u64 {
        match &self.way {
            Way::Threads(it) => it.handle.seen(),
            Way::Process(it) => it.seen(),
        }
    }

    pub(crate) fn read(&mut self, operation: Read<'_>) -> Response {
        let response = match &mut self.way {
            Way::Threads(it) => it.handle.read(operation),
            Way::Process(it) => it.read(operation),
        };
        if let Response::Read { lookups, .. } = &response {
            self.counts.add_lookups(*lookups);
        }
        response
    }

    /// Whether a write waits until other processes have agreed on it.
    pub(crate) fn agrees(&self) -> bool {
        matches!(self.way, Way::Process(_))
    }

    /// Runs commands that may change the store.
    pub(crate) fn run(&mut self, run: OwnedRun) -> Response {
        let response = match &mut self.way {
            Way::Threads(it) => it.run(run),
            Way::Process(it) => it.write(&Write::Run(Box::new(run))),
        };
        if let Response::Replies { lookups, .. } = &response {
            self.counts.add_lookups(*lookups);
        }
        response
    }

    pub(crate) fn remove_due(&mut self, now: i64) {
        match &mut self.way {
            Way::Threads(it) => it.remove_due(now),
            Way::Process(it) => {
                it.write(&Write::RemoveDue { now, removed: None });
            }
        }
    }

    /// Has the log forget what was large. To be called now and then.
    pub(crate) fn add(&mut self) {
        if let Way::Threads(it) = &mut self.way {
            it.add();
        }
    }

    /// Whether this event loop, of number `number` in its process, does what one has to do for all.
    pub(crate) fn is_first(&self, number: usize) -> bool {
        match &self.way {
            Way::Threads(_) => number == 0,
            Way::Process(it) => it.leads(),
        }
    }

    /// The replica, where it is a process.
    pub(crate) fn replica(&mut self) -> Option<&mut ReplicaStore> {
        match &mut self.way {
            Way::Threads(_) => None,
            Way::Process(it) => Some(it),
        }
    }
}

impl ThreadHandle {
    fn run(&mut self, run: OwnedRun) -> Response {
        const LARGE_BYTES: usize = 64 << 10;
        let large = run.bytes.len() > LARGE_BYTES;
        let response = self.handle.write(Write::Run(Box::new(run)));
        if large {
            self.additions = 3;
            self.add();
        }
        response
    }

    fn remove_due(&mut self, now: i64) {
        let removed = self.is_followed.then(OnceLock::new);
        self.handle.write(Write::RemoveDue { now, removed });
    }

    fn add(&mut self) {
        if self.additions > 0 {
            self.additions -= 1;
            let more = (0..shared_log::BLOCK).map(|_| Write::Nothing);
            self.handle.write_all(more.collect());
        }
    }
}
