//! All of durability together, and its threads.

use std::io;
use std::sync::Arc;
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

use corecast_agree::Replicated;

use super::disk::Disk;
use super::group_log::{GroupLog, Saves};
use super::journal::Journal;
use super::log::Mark;
use super::policy::AppendFsync;
use super::recovery::{Recovered, recover};
use super::saver::{Copy, Saver, seconds};
use super::snapshot::NEW_SNAPSHOT;
use crate::database::Database;
use crate::keyspace::Keyspace;

/// The room that a segment is given.
pub(crate) const SEGMENT_BYTES: u64 = 64 << 20;
/// How often `everysec` syncs.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// How often it is looked whether that is due, and whether the server has ended.
const TICK: Duration = Duration::from_millis(100);

/// What makes a store durable, as its event loops see it.
#[derive(Debug)]
pub(crate) enum Durability {
    /// This process has the folder.
    Own(Box<Persistence>),
    /// The replicas are processes, and one of them writes to the folder.
    Group(Arc<GroupLog>),
}

/// What writes to a folder.
#[derive(Debug)]
pub(crate) struct Persistence {
    pub(crate) journal: Journal,
    pub(crate) saver: Saver,
}

/// A disk whose store was read, and is not in use yet.
#[derive(Debug)]
pub(crate) struct Opened {
    disk: Arc<dyn Disk>,
    recovered: Recovered<()>,
}

impl Durability {
    /// Entries of the order whose replies may go out.
    pub(crate) fn released(&self) -> u64 {
        match self {
            Self::Own(it) => it.journal.released(),
            Self::Group(it) => it.released(),
        }
    }

    /// Why nothing is written any more, if so.
    pub(crate) fn failed(&self) -> Option<&str> {
        match self {
            Self::Own(it) => it.journal.failed(),
            Self::Group(it) => it.failed(),
        }
    }

    /// How snapshots and the log are.
    pub(crate) fn saves(&self) -> Saves {
        match self {
            Self::Own(it) => it.saves(),
            Self::Group(it) => it.saves(),
        }
    }

    /// Asks for a snapshot of what there is now.
    pub(crate) fn ask(&self) {
        match self {
            Self::Own(it) => it.saver.ask(),
            Self::Group(it) => drop(it.ask()),
        }
    }
}

impl Persistence {
    /// Reads what is on a disk.
    pub(crate) fn open(disk: Arc<dyn Disk>, segment_bytes: u64) -> io::Result<(Keyspace, Opened)> {
        let Recovered {
            mut state,
            log,
            snapshot_bytes,
            notes,
        } = recover::<Keyspace>(&disk, segment_bytes)?;
        // An earlier server may have left it.
        let _ = disk.remove(NEW_SNAPSHOT);
        // Those that expired before this server began are not its.
        let databases = state.databases_mut().all_mut();
        databases.iter_mut().for_each(Database::forget_expired);
        let recovered = Recovered {
            state: (),
            log,
            snapshot_bytes,
            notes,
        };
        Ok((state, Opened { disk, recovered }))
    }

    /// How snapshots and the log are.
    pub(crate) fn saves(&self) -> Saves {
        let state = self.saver.state();
        Saves {
            is_saving: state.is_saving,
            is_ok: state.is_ok,
            saved_at: state.saved_at,
            snapshot_bytes: state.snapshot_bytes,
            saved_log_bytes: state.log_bytes,
            log_bytes: self.journal.bytes(),
            done: state.done,
        }
    }

    /// Runs the threads in the background until the server is stopped. `copy` is theirs.
    pub(crate) fn spawn<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        copy: Copy<'scope>,
        is_stopped: &'env (dyn Fn() -> bool + Sync),
    ) -> io::Result<()> {
        let save = move || self.saver.run(&self.journal, copy, is_stopped);
        Builder::new()
            .name("save".to_owned())
            .spawn_scoped(scope, save)?;
        if self.journal.policy() == AppendFsync::EverySecond {
            let sync = || self.sync_every_second(is_stopped);
            Builder::new()
                .name("sync".to_owned())
                .spawn_scoped(scope, sync)?;
        }
        Ok(())
    }

    fn sync_every_second(&self, is_stopped: &dyn Fn() -> bool) {
        let mut synced = Instant::now();
        while !is_stopped() {
            std::thread::sleep(TICK);
            if synced.elapsed() >= SYNC_EVERY {
                synced = Instant::now();
                self.journal.sync();
            }
        }
    }
}

impl Opened {
    /// What whoever runs the server should know.
    pub(crate) fn notes(&self) -> &[String] {
        &self.recovered.notes
    }

    /// The index of the next entry in the log.
    pub(crate) fn end(&self) -> u64 {
        self.recovered.log.end()
    }

    /// For whoever goes on with the log: all is durable.
    pub(crate) fn mark(&self) -> Mark {
        self.recovered.log.mark(true)
    }

    /// How snapshots and the log are.
    pub(crate) fn saves(&self) -> Saves {
        Saves {
            is_saving: false,
            is_ok: true,
            saved_at: seconds(),
            snapshot_bytes: self.recovered.snapshot_bytes,
            saved_log_bytes: 0,
            log_bytes: self.recovered.log.bytes(),
            done: 0,
        }
    }

    /// Writes down what becomes of `store`, which begins with what was read.
    pub(crate) fn follow(self, store: &Replicated<Keyspace>, policy: AppendFsync) -> Persistence {
        let (saves, base) = (self.saves(), self.end());
        let Self { disk, recovered } = self;
        Persistence {
            journal: Journal::new(recovered.log, Box::new(store.follow()), base, policy),
            saver: Saver::new(disk, &saves),
        }
    }
}
