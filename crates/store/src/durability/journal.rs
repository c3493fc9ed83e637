//! Who writes the entries of the order down, and up to where replies may go out.
//!
//! An event loop whose turn has seen entries that are not in the log commits them, and all others that are there by then: one
//! write, and under `always` one sync, for all. While one does so the others go on, keep their replies back, and are woken.
//! A thread of its own would take two more switches of threads for each commit of a client that is alone.

use std::io;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use corecast_wire::sync::{AtomicU64, Ordering};

use super::fault::seeded;
use super::log::{Log, Mark};
use super::policy::AppendFsync;
use super::record::Entries;
use super::source::Source;

/// A record is ended once it holds so much.
const RECORD_BYTES: usize = 1 << 20;
/// An empty record is written after so many entries that change nothing: indices in a record are of 32 bits.
const NOTHING_MAX: u64 = 1 << 31;

/// What writes the entries of the order down.
#[derive(Debug)]
pub(crate) struct Journal {
    policy: AppendFsync,
    /// The index in the log of the order's first entry.
    base: u64,
    turn: Mutex<Turn>,
    committer: Mutex<Committer>,
    /// Entries of the order whose replies may go out.
    released: AtomicU64,
    /// Entries of the order before the end of the last record, and bytes of all records.
    written: AtomicU64,
    bytes: AtomicU64,
    failed: OnceLock<String>,
}

/// Who commits.
#[derive(Debug, Default)]
struct Turn {
    is_taken: bool,
    /// Event loops that wait for its end.
    waiting: Vec<usize>,
}

#[derive(Debug)]
struct Committer {
    /// `None` once the log has failed: entries need not be kept for it any more.
    source: Option<Box<dyn Source>>,
    log: Log,
    entries: Entries,
}

/// How a commit has ended.
#[derive(Debug)]
pub(crate) enum Commit {
    /// These event loops have waited for it.
    Done(Vec<usize>),
    /// Another event loop is at it, and wakes this one.
    Waits,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is in there holds whatever panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Journal {
    /// All that the log has is durable, and `source` gives what follows. The index in the log of the order's first entry is `base`.
    pub(crate) fn new(log: Log, source: Box<dyn Source>, base: u64, policy: AppendFsync) -> Self {
        let released = log.end() - base;
        let bytes = log.bytes();
        Self {
            policy,
            base,
            turn: Mutex::default(),
            committer: Mutex::new(Committer {
                source: Some(source),
                log,
                entries: Entries::default(),
            }),
            released: AtomicU64::new(released),
            written: AtomicU64::new(released),
            bytes: AtomicU64::new(bytes),
            failed: OnceLock::new(),
        }
    }

    pub(crate) fn policy(&self) -> AppendFsync {
        self.policy
    }

    /// The index in the log of an entry of the order.
    pub(crate) fn index(&self, entry: u64) -> u64 {
        self.base + entry
    }

    /// Entries of the order whose replies may go out.
    pub(crate) fn released(&self) -> u64 {
        // Acquire: synchronises with the store in `commit`, so the log is as it says.
        self.released.load(Ordering::Acquire)
    }

    /// Entries of the order before the end of the last record. What is released beyond changes nothing, and has no record.
    pub(crate) fn written(&self) -> u64 {
        // Acquire: synchronises with the store in `commit`, so the log is as it says.
        self.written.load(Ordering::Acquire)
    }

    /// For whoever goes on with the log, unless it is being written. See [`Log::mark`].
    pub(crate) fn mark(&self) -> Option<Mark> {
        let committer = self.committer.try_lock().ok()?;
        let has_to_be_durable = self.policy != AppendFsync::No;
        Some(committer.log.mark(has_to_be_durable))
    }

    /// Why nothing is written any more, if so.
    pub(crate) fn failed(&self) -> Option<&str> {
        self.failed.get().map(String::as_str)
    }

    /// Bytes of all records of the log, those before the last snapshot included.
    pub(crate) fn bytes(&self) -> u64 {
        // Relaxed: it says when a snapshot is worth it.
        self.bytes.load(Ordering::Relaxed)
    }

    /// Commits for an event loop, unless another one is at it.
    pub(crate) fn commit(&self, event_loop: usize) -> Commit {
        {
            let mut turn = lock(&self.turn);
            if turn.is_taken {
                // It is woken when the turn ends, under this mutex.
                turn.waiting.push(event_loop);
                return Commit::Waits;
            }
            turn.is_taken = true;
        }
        self.commit_now(self.policy == AppendFsync::Always);
        let mut turn = lock(&self.turn);
        turn.is_taken = false;
        Commit::Done(std::mem::take(&mut turn.waiting))
    }

    /// Commits without waiting for the disk, where nothing is to be synced before the answers: as long as what has come is no longer than
    /// `bytes_max`, the log is not synced and needs no new segment, it is a copy to the kernel's memory. Returns whether it was done.
    pub(crate) fn commit_at_once(&self, bytes_max: usize) -> bool {
        if self.policy == AppendFsync::Always {
            return false;
        }
        // Whoever has it may be waiting for the disk.
        let Ok(mut committer) = self.committer.try_lock() else {
            return false;
        };
        let takes = committer.log.takes_at_once(bytes_max as u64);
        if takes {
            self.commit_locked(&mut committer, false);
        }
        takes && self.failed().is_none()
    }

    fn commit_now(&self, syncs: bool) {
        self.commit_locked(&mut lock(&self.committer), syncs);
    }

    fn commit_locked(&self, committer: &mut Committer, syncs: bool) {
        let Committer {
            source: Some(source),
            log,
            entries,
        } = committer
        else {
            return;
        };
        match write_down(&mut **source, log, entries, self.base, syncs) {
            Ok(next) => {
                // Relaxed: see `bytes`. Release: each synchronises with the load of its word.
                self.bytes.store(log.bytes(), Ordering::Relaxed);
                self.written.store(log.end() - self.base, Ordering::Release);
                self.released.store(next, Ordering::Release);
            }
            Err(error) => self.fail(committer, &error),
        }
    }

    /// Makes durable what is in the log, beside those that commit.
    pub(crate) fn sync(&self) {
        let Some((file, place)) = lock(&self.committer).log.unsynced() else {
            return;
        };
        // The segment may have grown.
        let synced = file.sync_all();
        let committer = &mut *lock(&self.committer);
        if let Err(error) = committer.log.synced(place, synced) {
            self.fail(committer, &error);
        }
    }

    /// Writes and makes durable what is in the order, when no more is to come.
    pub(crate) fn close(&self) {
        self.commit_now(true);
    }

    fn fail(&self, committer: &mut Committer, error: &io::Error) {
        committer.source = None;
        if self.failed.set(error.to_string()).is_ok() {
            eprintln!(
                "corecast: {error}: writes are refused from now on, and those that were not answered may be lost. Restart the \
                 server when the disk is well"
            );
        }
    }
}

/// Writes what has come of the order into the log, and returns how many entries that are.
fn write_down(
    source: &mut dyn Source,
    log: &mut Log,
    entries: &mut Entries,
    base: u64,
    syncs: bool,
) -> io::Result<u64> {
    loop {
        entries.begin(log.end());
        let mut is_full = false;
        let next = source.take(&mut |index, entry| {
            is_full = entries.bytes() >= RECORD_BYTES
                || !entries.add(base + index, |out| entry.write(out));
            match is_full {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        let end = base + next;
        if !entries.is_empty() || end - log.end() > NOTHING_MAX {
            log.append(entries, end)?;
        } else if is_full {
            return Err(io::Error::other(
                "commands of 4 GiB or more in one transaction",
            ));
        }
        if !is_full {
            if seeded!(ReleasedUnwritten) {
                return Ok(next);
            }
            log.write()?;
            if syncs {
                log.sync()?;
            }
            return Ok(next);
        }
    }
}

#[cfg(test)]
mod tests;
