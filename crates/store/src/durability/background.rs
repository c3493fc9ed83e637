//! All of durability together, and its threads.

use std::io;
use std::sync::Arc;
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

use corecast_agree::{Handle, Replicated};

use super::disk::Disk;
use super::journal::Journal;
use super::policy::AppendFsync;
use super::recovery::{Recovered, recover};
use super::saver::Saver;
use super::snapshot::NEW_SNAPSHOT;
use crate::keyspace::Keyspace;

/// The room that a segment is given.
pub(crate) const SEGMENT_BYTES: u64 = 64 << 20;
/// How often `everysec` syncs.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// How often it is looked whether that is due, and whether the server has ended.
const TICK: Duration = Duration::from_millis(100);

/// What makes a store durable.
#[derive(Debug)]
pub(crate) struct Durability {
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
    /// Reads what is on a disk.
    pub(crate) fn open(disk: Arc<dyn Disk>, segment_bytes: u64) -> io::Result<(Keyspace, Opened)> {
        let Recovered {
            state,
            log,
            snapshot_bytes,
            notes,
        } = recover::<Keyspace>(&disk, segment_bytes)?;
        // An earlier server may have left it.
        let _ = disk.remove(NEW_SNAPSHOT);
        let recovered = Recovered {
            state: (),
            log,
            snapshot_bytes,
            notes,
        };
        Ok((state, Opened { disk, recovered }))
    }

    /// Runs the threads in the background until the server is stopped. `handle` is theirs.
    pub(crate) fn spawn<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        mut handle: Handle<Keyspace>,
        is_stopped: &'env (dyn Fn() -> bool + Sync),
    ) -> io::Result<()> {
        let save = move || self.saver.run(&self.journal, &mut handle, is_stopped);
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

    /// Writes down what becomes of `store`, which begins with what was read.
    pub(crate) fn follow(self, store: &Replicated<Keyspace>, policy: AppendFsync) -> Durability {
        let Self { disk, recovered } = self;
        Durability {
            journal: Journal::new(recovered.log, store.follow(), policy),
            saver: Saver::new(disk, recovered.snapshot_bytes),
        }
    }
}
