//! The store with its replicas.

use std::sync::{Arc, Mutex, PoisonError};

use corecast_agree::Dispatch;

use crate::keyspace::{Keyspace, Read, Response, Write};

/// The store with its replicas.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    replica: Arc<Mutex<Keyspace>>,
}

impl Store {
    pub(crate) fn new(_replicas: usize) -> Self {
        Self::default()
    }

    pub(crate) fn handle(&self, _replica: usize) -> Handle {
        Handle(Arc::clone(&self.replica))
    }
}

/// One thread's way to a replica.
#[derive(Debug)]
pub(crate) struct Handle(Arc<Mutex<Keyspace>>);

impl Handle {
    pub(crate) fn read(&mut self, operation: Read<'_>) -> Response {
        let replica = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        replica.read(operation)
    }

    pub(crate) fn write(&mut self, operation: Write) -> Response {
        let mut replica = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        replica.write(&operation)
    }
}
