//! The store with its replicas.

use corecast_agree::{Handle, Options, Replicated};

use crate::keyspace::Keyspace;

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
