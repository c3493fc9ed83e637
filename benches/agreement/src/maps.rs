//! The maps that race: 65,536 keys of 8 bytes, values of 16.

use corecast_agree::{Dispatch, Footprint, Handle, Options, Reads, Replicated};
use corecast_bench::Role;
use dashmap::DashMap;
use node_replication::{Log, Replica, ReplicaToken};
use std::collections::HashMap;
use std::sync::{Arc, RwLock};

/// Keys of each map.
pub(crate) const KEYS: u64 = 1 << 16;

/// A value.
pub(crate) type Value = [u64; 2];

/// A thread's access to a map.
pub(crate) trait Access {
    fn get(&mut self, key: u64) -> Option<Value>;
    fn set(&mut self, key: u64, value: Value);
}

/// A map that several threads use.
pub(crate) trait Shared: Sync {
    type Access<'a>: Access
    where
        Self: 'a;
    const ROLE: Role;
    /// Whether a thread finds what another one has set.
    const IS_SHARED: bool = true;
    fn name(&self) -> &'static str;
    fn setting(&self) -> String;
    fn access(&self, rank: usize) -> Self::Access<'_>;
}

fn full() -> HashMap<u64, Value> {
    (0..KEYS).map(|key| (key, [key, 0])).collect()
}

/// A `HashMap` that only one thread uses.
pub(crate) struct Private;

impl Access for HashMap<u64, Value> {
    #[inline]
    fn get(&mut self, key: u64) -> Option<Value> {
        HashMap::get(self, &key).copied()
    }

    #[inline]
    fn set(&mut self, key: u64, value: Value) {
        self.insert(key, value);
    }
}

impl Shared for Private {
    type Access<'a> = HashMap<u64, Value>;
    const ROLE: Role = Role::Floor;
    const IS_SHARED: bool = false;

    fn name(&self) -> &'static str {
        "private HashMap"
    }

    fn setting(&self) -> String {
        "one for each thread".to_owned()
    }

    fn access(&self, _rank: usize) -> HashMap<u64, Value> {
        full()
    }
}

/// A `HashMap` as a sequential structure.
pub(crate) struct Map(HashMap<u64, Value>);

impl Dispatch for Map {
    type Read<'a> = u64;
    type Write = (u64, Value);
    type Response = Option<Value>;
    type Snapshot = HashMap<u64, Value>;

    #[inline]
    fn read(&self, key: u64) -> Option<Value> {
        self.0.get(&key).copied()
    }

    #[inline]
    fn write(&mut self, &(key, value): &(u64, Value)) -> Option<Value> {
        self.0.insert(key, value)
    }

    #[inline]
    fn read_footprint(key: &u64) -> Footprint {
        Footprint::Key(*key)
    }

    #[inline]
    fn write_footprint(&(key, _): &(u64, Value)) -> Footprint {
        Footprint::Key(key)
    }

    fn snapshot(&self) -> HashMap<u64, Value> {
        self.0.clone()
    }

    fn install(snapshot: HashMap<u64, Value>) -> Self {
        Self(snapshot)
    }
}

/// Corecast's.
pub(crate) struct Corecast {
    map: Replicated<Map>,
    replicas: usize,
    reads: Reads,
}

impl Corecast {
    pub(crate) fn new(replicas: usize, reads: Reads) -> Self {
        let options = Options {
            replicas,
            reads,
            ..Options::default()
        };
        let map = Replicated::new(options, Map(full()));
        Self {
            map,
            replicas,
            reads,
        }
    }
}

impl Access for Handle<Map> {
    #[inline]
    fn get(&mut self, key: u64) -> Option<Value> {
        self.read(key)
    }

    #[inline]
    fn set(&mut self, key: u64, value: Value) {
        self.write((key, value));
    }
}

impl Shared for Corecast {
    type Access<'a> = Handle<Map>;
    const ROLE: Role = Role::Corecast;

    fn name(&self) -> &'static str {
        match self.reads {
            Reads::Watermark => "corecast Replicated",
            Reads::Stable => "corecast Replicated, stable reads",
            Reads::Raced => "corecast Replicated, raced reads",
        }
    }

    fn setting(&self) -> String {
        format!("{} replicas", self.replicas)
    }

    fn access(&self, rank: usize) -> Handle<Map> {
        let replica = self.map.handle(rank % self.replicas);
        replica.expect("there are 64 handles for each replica")
    }
}

/// A `HashMap` for node-replication.
#[derive(Clone)]
pub(crate) struct NrMap(HashMap<u64, Value>);

impl Default for NrMap {
    fn default() -> Self {
        Self(full())
    }
}

impl node_replication::Dispatch for NrMap {
    type ReadOperation = u64;
    type WriteOperation = (u64, Value);
    type Response = Option<Value>;

    #[inline]
    fn dispatch(&self, key: u64) -> Option<Value> {
        self.0.get(&key).copied()
    }

    #[inline]
    fn dispatch_mut(&mut self, (key, value): (u64, Value)) -> Option<Value> {
        self.0.insert(key, value)
    }
}

/// node-replication 0.1.1.
pub(crate) struct NodeReplication(Vec<Arc<Replica<'static, NrMap>>>);

impl NodeReplication {
    pub(crate) fn new(replicas: usize) -> Self {
        let log = Arc::new(Log::new(32 << 20));
        Self((0..replicas).map(|_| Replica::new(&log)).collect())
    }
}

pub(crate) struct NrAccess<'a>(&'a Replica<'static, NrMap>, ReplicaToken);

impl Access for NrAccess<'_> {
    #[inline]
    fn get(&mut self, key: u64) -> Option<Value> {
        self.0.execute(key, self.1)
    }

    #[inline]
    fn set(&mut self, key: u64, value: Value) {
        self.0.execute_mut((key, value), self.1);
    }
}

impl Shared for NodeReplication {
    type Access<'a> = NrAccess<'a>;
    const ROLE: Role = Role::Peer;

    fn name(&self) -> &'static str {
        "node-replication"
    }

    fn setting(&self) -> String {
        format!("{} replicas, log of 32 MiB", self.0.len())
    }

    fn access(&self, rank: usize) -> NrAccess<'_> {
        let replica = &self.0[rank % self.0.len()];
        let token = replica.register();
        NrAccess(replica, token.expect("it registers 256 threads"))
    }
}

impl Access for &DashMap<u64, Value> {
    #[inline]
    fn get(&mut self, key: u64) -> Option<Value> {
        DashMap::get(self, &key).map(|value| *value)
    }

    #[inline]
    fn set(&mut self, key: u64, value: Value) {
        self.insert(key, value);
    }
}

impl Shared for DashMap<u64, Value> {
    type Access<'a> = &'a Self;
    const ROLE: Role = Role::Peer;

    fn name(&self) -> &'static str {
        "dashmap"
    }

    fn setting(&self) -> String {
        "its default number of shards".to_owned()
    }

    fn access(&self, _rank: usize) -> &Self {
        self
    }
}

pub(crate) fn dashmap() -> DashMap<u64, Value> {
    full().into_iter().collect()
}

/// A map behind the lock of the standard library.
pub(crate) struct Locked(RwLock<HashMap<u64, Value>>);

impl Locked {
    pub(crate) fn new() -> Self {
        Self(RwLock::new(full()))
    }
}

impl Access for &Locked {
    #[inline]
    fn get(&mut self, key: u64) -> Option<Value> {
        let map = self.0.read().expect("nobody panics with it");
        map.get(&key).copied()
    }

    #[inline]
    fn set(&mut self, key: u64, value: Value) {
        let mut map = self.0.write().expect("nobody panics with it");
        map.insert(key, value);
    }
}

impl Shared for Locked {
    type Access<'a> = &'a Self;
    const ROLE: Role = Role::Peer;

    fn name(&self) -> &'static str {
        "RwLock<HashMap>"
    }

    fn setting(&self) -> String {
        "of the standard library".to_owned()
    }

    fn access(&self, _rank: usize) -> &Self {
        self
    }
}
