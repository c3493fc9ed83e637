//! The store with its replicas.

use corecast_agree::{Handle, Options, Replicated};
use corecast_wire::shared_log;

use crate::keyspace::{Keyspace, OwnedRun, Read, Response, Write};

/// Writes by which a replica may lag: they and their values are kept until it has them.
const LOG_LEN: u64 = 1024;

/// An empty store.
pub(crate) fn new(replicas: usize) -> Replicated<Keyspace> {
    let options = Options {
        replicas,
        log_len: LOG_LEN,
        ..Options::default()
    };
    Replicated::new(options, Keyspace::default())
}

/// One thread's way to a replica.
///
/// The log keeps its last entries, a block of them, until more follow. Where they are large that is memory, so entries that
/// change nothing are added: at once, and again when all replicas have had time to apply what was large.
#[derive(Debug)]
pub(crate) struct StoreHandle {
    handle: Handle<Keyspace>,
    /// How often more entries are to be added.
    additions: u32,
}

impl StoreHandle {
    pub(crate) fn new(handle: Handle<Keyspace>) -> Self {
        let additions = 0;
        Self { handle, additions }
    }

    pub(crate) fn read(&mut self, operation: Read<'_>) -> Response {
        self.handle.read(operation)
    }

    /// Runs commands that may change the store.
    pub(crate) fn run(&mut self, run: OwnedRun) -> Response {
        const LARGE_BYTES: usize = 64 << 10;
        let large = run.bytes.len() > LARGE_BYTES;
        let response = self.handle.write(Write::Run(Box::new(run)));
        if large {
            self.additions = 3;
            self.add();
        }
        response
    }

    pub(crate) fn remove_due(&mut self, now: i64) {
        self.handle.write(Write::RemoveDue { now });
    }

    /// Has the log forget what was large. To be called now and then.
    pub(crate) fn add(&mut self) {
        if self.additions > 0 {
            self.additions -= 1;
            let more = (0..shared_log::BLOCK).map(|_| Write::Nothing);
            self.handle.write_all(more.collect());
        }
    }
}
