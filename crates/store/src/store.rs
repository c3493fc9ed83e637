//! The store with its replicas.

use corecast_agree::{Handle, Options, Replicated};
use corecast_wire::shared_log;

use crate::keyspace::{Keyspace, OwnedRun, Response, Write};

/// Writes by which a replica may lag: they and their values are kept until it has them.
const LOG_LEN: u64 = 1024;

/// One thread's way to a replica.
pub(crate) type StoreHandle = Handle<Keyspace>;

/// An empty store.
pub(crate) fn new(replicas: usize) -> Replicated<Keyspace> {
    let options = Options {
        replicas,
        log_len: LOG_LEN,
        ..Options::default()
    };
    Replicated::new(options, Keyspace::default())
}

/// Runs commands that may change the store.
pub(crate) fn write(store: &mut StoreHandle, run: OwnedRun) -> Response {
    /// A write of more than this is not left in the log until others follow it.
    const LARGE_BYTES: usize = 64 << 10;
    let large = run.bytes.len() > LARGE_BYTES;
    let response = store.write(Write::Run(Box::new(run)));
    if large {
        // The log forgets what all replicas have applied by blocks, so a block is filled.
        let more = (0..shared_log::BLOCK).map(|_| Write::Nothing);
        store.write_all(more.collect());
    }
    response
}
