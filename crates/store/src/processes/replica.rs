//! A replica that is a process.

use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;

use corecast_agree::paxos::processes::{ProcessGroup, ProcessMember};
use corecast_wire::WaitConfig;

use super::ReplicaStore;
use super::handover::{self, Handover};
use super::limits::OPTIONS;
use super::log_writer::LogContext;
use super::offers::Offers;
use super::replica_log::ReplicaLog;
use crate::database;
use crate::durability::{Directory, GroupLog};
use crate::keyspace::Keyspace;
use crate::server::serve_replica;
use crate::store::StoreHandle;

/// A replica of a [`ProcessServer`](super::ProcessServer), in the process that was started for it.
#[derive(Debug)]
pub struct Replica {
    handover: Handover,
}

impl Replica {
    /// Takes what the parent has given to this process, whose standard input it is. To be called before anything else of
    /// this crate.
    ///
    /// # Errors
    ///
    /// If the parent is no [`ProcessServer`](super::ProcessServer).
    pub fn inherited() -> io::Result<Self> {
        let handover = handover::take()?;
        match database::set_hash_numbers(handover.hash_numbers) {
            true => Ok(Self { handover }),
            false => Err(io::Error::other("this process has used the store before")),
        }
    }

    /// The number of this replica.
    #[must_use]
    pub fn number(&self) -> usize {
        self.handover.member
    }

    /// Serves until the process is asked to end ([`corecast_wire::ending`]). First it takes the state of another replica, if this
    /// one was started again, and then calls `serving`.
    ///
    /// # Errors
    ///
    /// If the kernel refuses what is needed.
    pub fn run(self, serving: impl FnOnce()) -> io::Result<()> {
        let Handover {
            member,
            options,
            base,
            memory,
            listener,
            lock,
            first,
            bell,
            bells,
            ..
        } = self.handover;
        let bells: Vec<UnixDatagram> = bells.into_iter().map(UnixDatagram::from).collect();
        // A bell that has been rung often enough is not rung again.
        let ring = move |to: usize| drop(bells[to].send(&[1]));
        let group = ProcessGroup::attach(memory.as_fd()).map_err(io::Error::other)?;
        let group = group.ringing(Arc::new(ring));
        let start = group.running(member).unwrap_or(0);
        let log = lock.zip(options.dir.clone()).map(|(lock, dir)| {
            let lines = group.user_lines().map_err(io::Error::other)?;
            let context = LogContext {
                disk: Arc::new(Directory::inherited(dir, lock)?),
                policy: options.append_fsync,
                base,
                tail: Arc::default(),
                log: Arc::new(GroupLog::new(lines, Offers::lines(group.size()))),
                group: group.clone(),
            };
            Ok::<_, io::Error>(ReplicaLog::new(context, member, start))
        });
        let first = first.map(read_first).transpose()?;
        let member = ProcessMember::new(member, group, OPTIONS, WaitConfig::OVERSUBSCRIBED);
        let member = member.map_err(io::Error::other)?;
        let bell = mio::net::UnixDatagram::from_std(UnixDatagram::from(bell));
        let mut store = ReplicaStore::new(member, bell, first, log.transpose()?)?;
        if !store.enter() {
            return store.goes_on();
        }
        serving();
        let listener = TcpListener::from(listener);
        let address: SocketAddr = listener.local_addr()?;
        // Numbers of clients differ from those of other replicas, and of former starts.
        serve_replica(
            listener,
            address,
            options,
            StoreHandle::of_replica(store),
            start << 32,
        )
    }
}

/// Reads what a replica begins with, of a file that others read as well.
fn read_first(descriptor: OwnedFd) -> io::Result<Keyspace> {
    let file = File::from(descriptor);
    let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, 0)?;
    let keyspace = Keyspace::decode(&bytes);
    keyspace.ok_or_else(|| io::Error::other("what it is to begin with is no store"))
}
