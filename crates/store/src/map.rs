//! [`Map`]: the store without a server, for the threads of a program.

use corecast_agree::{
    Chosen, Dispatch, Footprint, Handle, Options, Reads, ReplicaError, Replicated,
};
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, Hash};

/// What keys and values must be. It is implemented for all that is.
pub trait Entry: Clone + Send + Sync + 'static {}

impl<T: Clone + Send + Sync + 'static> Entry for T {}

/// A map with several replicas, one per NUMA node for instance, which threads read and write by [`MapHandle`]s as if it were one.
///
/// All calls are linearizable. Reads run on the replica of their handle; writes are applied to all replicas in one order. Keys and
/// values are cloned once for each replica that applies a write, so large values should be [`Arc`](std::sync::Arc)s.
///
/// Clones are the same map. Dropping all clones and handles drops it.
///
/// # Examples
///
/// ```
/// use corecast_store::Map;
///
/// let map = Map::new(2);
/// std::thread::scope(|scope| {
///     for replica in map.replicas() {
///         let mut handle = map.handle(replica).unwrap();
///         scope.spawn(move || {
///             handle.set(format!("from {replica}"), replica);
///             assert_eq!(handle.get(&format!("from {replica}")), Some(replica));
///         });
///     }
/// });
/// let mut handle = map.handle(0)?;
/// assert_eq!(handle.len(), 2);
/// assert_eq!(handle.remove("from 1".to_owned()), Some(1));
/// # Ok::<(), corecast_store::ReplicaError>(())
/// ```
pub struct Map<K: Entry + Eq + Hash, V: Entry>(Replicated<Entries<K, V>>);

/// One thread's access to a replica of a [`Map`]. It can be sent to another thread.
pub struct MapHandle<K: Entry + Eq + Hash, V: Entry>(Handle<Entries<K, V>>);

/// One replica.
struct Entries<K, V>(HashMap<K, V, FxBuildHasher>);

enum Read<'a, K> {
    Get(&'a K),
    Len,
}

enum Write<K, V> {
    Set(K, V),
    SetIfAbsent(K, V),
    Remove(K),
    Clear,
}

enum Response<V> {
    Value(Option<V>),
    Len(usize),
}

impl<V> Response<V> {
    fn value(self) -> Option<V> {
        match self {
            Self::Value(value) => value,
            Self::Len(_) => unreachable!("a value was asked for"),
        }
    }
}

fn footprint<K: Hash>(key: &K) -> Footprint {
    Footprint::Key(FxBuildHasher.hash_one(key))
}

impl<K: Entry + Eq + Hash, V: Entry> Dispatch for Entries<K, V> {
    type Read<'a> = Read<'a, K>;
    type Write = Write<K, V>;
    type Response = Response<V>;
    type Snapshot = HashMap<K, V, FxBuildHasher>;

    fn read(&self, operation: Read<'_, K>) -> Response<V> {
        match operation {
            Read::Get(key) => Response::Value(self.0.get(key).cloned()),
            Read::Len => Response::Len(self.0.len()),
        }
    }

    fn write(&mut self, operation: &Write<K, V>) -> Response<V> {
        Response::Value(match operation {
            Write::Set(key, value) => self.0.insert(key.clone(), value.clone()),
            Write::SetIfAbsent(key, value) => {
                let before = self.0.get(key).cloned();
                if before.is_none() {
                    self.0.insert(key.clone(), value.clone());
                }
                before
            }
            Write::Remove(key) => self.0.remove(key),
            Write::Clear => {
                self.0.clear();
                None
            }
        })
    }

    fn read_footprint(operation: &Read<'_, K>) -> Footprint {
        match operation {
            Read::Get(key) => footprint(*key),
            Read::Len => Footprint::Everything,
        }
    }

    fn write_footprint(operation: &Write<K, V>) -> Footprint {
        match operation {
            Write::Set(key, _) | Write::SetIfAbsent(key, _) | Write::Remove(key) => footprint(key),
            Write::Clear => Footprint::Everything,
        }
    }

    fn snapshot(&self) -> Self::Snapshot {
        self.0.clone()
    }

    fn install(snapshot: Self::Snapshot) -> Self {
        Self(snapshot)
    }
}

impl<K: Entry + Eq + Hash, V: Entry> Clone for Map<K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: Entry + Eq + Hash, V: Entry> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Map({:?})", self.0)
    }
}

impl<K: Entry + Eq + Hash, V: Entry> fmt::Debug for MapHandle<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MapHandle({:?})", self.0)
    }
}

impl<K: Entry + Eq + Hash, V: Entry> Map<K, V> {
    /// An empty map with this many replicas, whose calls race the designs of reads.
    ///
    /// # Panics
    ///
    /// If there are no replicas.
    pub fn new(replicas: usize) -> Self {
        Self::with(Options {
            replicas,
            reads: Reads::Raced,
            ..Options::default()
        })
    }

    /// An empty map with these options.
    ///
    /// # Panics
    ///
    /// If they want no replica, or no handle.
    pub fn with(options: Options) -> Self {
        Self(Replicated::new(options, Entries(HashMap::default())))
    }

    /// A handle on a replica, for one thread.
    ///
    /// # Errors
    ///
    /// There is no such replica, or it has as many handles as it was made for.
    pub fn handle(&self, replica: usize) -> Result<MapHandle<K, V>, ReplicaError> {
        self.0.handle(replica).map(MapHandle)
    }

    /// The numbers of the replicas.
    pub fn replicas(&self) -> Vec<usize> {
        self.0.replicas()
    }

    /// By which design reads are served at the moment, and why.
    pub fn reads(&self) -> Chosen {
        self.0.reads()
    }
}

impl<K: Entry + Eq + Hash, V: Entry> MapHandle<K, V> {
    /// The value of a key.
    ///
    /// # Cost
    ///
    /// That of a `HashMap`, a lock of the handle's own line, and a look at what is noted of the key, or at the log.
    #[inline]
    pub fn get(&mut self, key: &K) -> Option<V> {
        self.0.read(Read::Get(key)).value()
    }

    /// The number of keys.
    #[allow(
        clippy::len_without_is_empty,
        reason = "another thread may change it at once"
    )]
    pub fn len(&mut self) -> usize {
        match self.0.read(Read::Len) {
            Response::Len(len) => len,
            Response::Value(_) => unreachable!("a number was asked for"),
        }
    }

    /// Sets a key to a value, and returns the value before.
    ///
    /// # Cost
    ///
    /// Two to three transfers of lines between the replicas, and the write at each of them.
    #[inline]
    pub fn set(&mut self, key: K, value: V) -> Option<V> {
        self.0.write(Write::Set(key, value)).value()
    }

    /// Sets a key that is not there to a value. Returns the value of one that is.
    pub fn set_if_absent(&mut self, key: K, value: V) -> Option<V> {
        self.0.write(Write::SetIfAbsent(key, value)).value()
    }

    /// Removes a key, and returns its value.
    pub fn remove(&mut self, key: K) -> Option<V> {
        self.0.write(Write::Remove(key)).value()
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.0.write(Write::Clear);
    }

    /// Sets all of these keys side by side: whoever reads sees all of them or none.
    pub fn set_all(&mut self, entries: impl IntoIterator<Item = (K, V)>) {
        let writes = entries
            .into_iter()
            .map(|(key, value)| Write::Set(key, value));
        self.0.write_all(writes.collect());
    }

    /// The whole map at one point of the order of writes.
    pub fn snapshot(&mut self) -> HashMap<K, V> {
        self.0.snapshot().1.into_iter().collect()
    }
}
