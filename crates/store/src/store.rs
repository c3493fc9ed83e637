//! The store with its replicas.

use std::sync::OnceLock;

use corecast_agree::{Handle, Options, Replicated};
use corecast_wire::shared_log;

use crate::keyspace::{Keyspace, OwnedRun, Read, Response, Write};

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

/// One thread's way to a replica.
///
/// The log keeps its last entries, a block of them, until more follow. Where they are large that is memory, so entries that
/// change nothing are added: at once, and again when all replicas have had time to apply what was large.
#[derive(Debug)]
pub(crate) struct StoreHandle {
    handle: Handle<Keyspace>,
    /// How often more entries are to be added.
    additions: u32,
    /// Whether somebody writes down what is removed.
    is_followed: bool,
}

impl StoreHandle {
    pub(crate) fn new(handle: Handle<Keyspace>, is_followed: bool) -> Self {
        Self {
            handle,
            additions: 0,
            is_followed,
        }
    }

    /// How many entries of the order what it was answered depends on.
    pub(crate) fn seen(&self) -> u64 {
        self.handle.seen()
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
        let removed = self.is_followed.then(OnceLock::new);
        self.handle.write(Write::RemoveDue { now, removed });
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
