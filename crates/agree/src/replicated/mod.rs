//! [`Replicated`]: a sequential structure of which each NUMA node has a replica.
//!
//! ```text
//!  threads ──► handle ──► replica 0 ◄── applies ──┐
//!                                                 ├── log ◄── appended by one thread of each replica at a time
//!  threads ──► handle ──► replica 1 ◄── applies ──┘
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `handle.rs` | what a thread calls |
//! | `combine.rs` | what the holder of a replica's lock does |
//! | `pending.rs`, `noting.rs` | the design *stable* of reads: what writers note at each replica before entries are written |
//! | `racing.rs` | which design of reads is faster for a program's calls |
//! | `replica.rs`, `mailbox.rs` | a replica, and the lines by which its threads reach the one that combines |
//! | `follower.rs` | what follows the order of writes without being a replica |
//! | `membership.rs` | which replicas there are; one that lags is helped, or left behind and installed again |
//!
//! The lock and the log, with their orderings, are `reader_lock.rs` and `shared_log.rs` of `corecast-wire`.
//!
//! **Invariant 1:** a replica's structure is the result of the log's first `applied` entries, in their order. Entries are
//! applied by whoever holds its lock.
//!
//! **Invariant 2 (watermark):** the end of the log counts every entry that any replica has applied, because entries are reserved
//! before they are applied. A read first looks at the end, and then reads where at least that many entries are applied. So
//! it misses nothing that was answered or read anywhere before it began. The dangerous interleaving is that of a store whose replicas
//! answer at once: a thread reads a write at one replica, tells another one, and that one reads at a replica that does
//! not have the write yet.
//!
//! A read that begins after a write has returned sees it by the clock that all cores share as well, not only if somebody told of the
//! write: a writer gives its lock back by an exchange, before which its stores are finished.
//!
//! Where reads are served by the other design, *stable*, a read looks at what was noted at its replica first, and at the log only if
//! that is not all applied: `pending.rs`.
//!
//! **Invariant 3:** entries that were reserved by one addition are applied in one hold of the lock: nobody applies up to
//! an entry in their midst, because where to stop is an end of the log that somebody read.
//!
//! **Invariant 4:** an entry that a replica has not applied is kept for it: by the log, or, once it is left behind, by the
//! replica itself up to the last entry that its threads can have appended before they learned of that. So every write is
//! answered by its own replica, however long its threads were stopped, and what a stopped replica keeps is bounded by the length
//! of the log.
//!
//! Source: Calciu and others, "Black-box Concurrent Data Structures for NUMA Architectures" (ASPLOS 2017), for the log, the
//! flat combining and the watermark; replicas that come, go and lag, operations that are not cloned, and the lock are
//! different here.

mod combine;
mod follower;
mod handle;
mod mailbox;
mod membership;
mod noting;
mod options;
mod pending;
mod racing;
mod replica;

pub use follower::Follower;
pub use handle::Handle;
pub use options::{Chosen, Design, Options, Reads, ReplicaError, Why};

use crate::Dispatch;
use membership::Membership;
use std::fmt;
use std::sync::Arc;

/// A sequential structure with several replicas, which threads read and write by [`Handle`]s as if there were one.
///
/// Reads run on the replica of their handle and are linearizable. Writes go through a log that all replicas apply in the
/// same order; an operation is dropped when all replicas have applied it and the log has grown by some more. Nothing is cloned or compared,
/// and whoever waits does so by the wait strategy of [`Options`].
///
/// Dropping all clones and handles drops it.
///
/// # Examples
///
/// ```
/// use corecast_agree::{Dispatch, Options, Replicated};
///
/// struct Counter(u64);
///
/// impl Dispatch for Counter {
///     type Read<'a> = ();
///     type Write = u64;
///     type Response = u64;
///     type Snapshot = u64;
///     fn read(&self, (): ()) -> u64 {
///         self.0
///     }
///     fn write(&mut self, add: &u64) -> u64 {
///         self.0 += add;
///         self.0
///     }
///     fn snapshot(&self) -> u64 {
///         self.0
///     }
///     fn install(snapshot: u64) -> Self {
///         Self(snapshot)
///     }
/// }
///
/// let counter = Replicated::new(Options { replicas: 2, ..Options::default() }, Counter(0));
/// std::thread::scope(|scope| {
///     for replica in counter.replicas() {
///         let mut handle = counter.handle(replica).unwrap();
///         scope.spawn(move || {
///             let own = handle.write(20);
///             assert!(handle.read(()) >= own);
///         });
///     }
/// });
/// assert_eq!(counter.handle(0)?.write_all(vec![1, 1]), [41, 42]);
/// # Ok::<(), corecast_agree::ReplicaError>(())
/// ```
pub struct Replicated<T: Dispatch>(Arc<Membership<T>>);

impl<T: Dispatch> Clone for Replicated<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Dispatch> fmt::Debug for Replicated<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replicated({:?})", self.0.log)
    }
}

impl<T: Dispatch + Sync> Replicated<T> {
    /// Replicates `first`: the other replicas are installed from its snapshot.
    ///
    /// # Panics
    ///
    /// If `options` want no replica, or no handle.
    pub fn new(options: Options, first: T) -> Self {
        Self(Arc::new(Membership::new(options, first)))
    }

    /// A handle on a replica, for one thread.
    ///
    /// # Errors
    ///
    /// There is no such replica, or it has as many handles as it was made for.
    pub fn handle(&self, replica: usize) -> Result<Handle<T>, ReplicaError> {
        Handle::new(Arc::clone(&self.0), replica)
    }

    /// What follows the order of writes from here on: no write that begins after this call is missed.
    pub fn follow(&self) -> Follower<T> {
        Follower::new(Arc::clone(&self.0))
    }

    /// By which design reads are served at the moment, and why.
    pub fn reads(&self) -> Chosen {
        let membership = &*self.0;
        membership.racing.chosen(|| membership.design())
    }

    /// The numbers of the replicas that there are.
    pub fn replicas(&self) -> Vec<usize> {
        self.0.numbers()
    }

    /// Adds a replica and returns its number, which no other one had before. Writers of the replica that is copied wait
    /// meanwhile.
    ///
    /// # Panics
    ///
    /// If writes have panicked at all replicas.
    pub fn add_replica(&self) -> usize {
        let membership = &*self.0;
        loop {
            let donor = loop {
                match membership.donor(None) {
                    Some(donor) => break donor,
                    // Others copy at this moment.
                    None => corecast_wire::sync::yield_now(),
                }
            };
            let take = |state: &replica::State<T>| T::install(state.data.snapshot());
            let join =
                |data, donor: &replica::Replica<T>, applied| membership.join(data, donor, applied);
            if let Some(number) = combine::copy(membership, donor, take, join) {
                return number;
            }
        }
    }

    /// Removes a replica.
    ///
    /// # Errors
    ///
    /// There is no such replica, it has handles, or it is the last one that has all writes.
    pub fn remove_replica(&self, replica: usize) -> Result<(), ReplicaError> {
        self.0.remove(replica)
    }
}
