//! When snapshots are taken: when somebody asks, and when the log has grown.
//!
//! The rule is that of Redis's log: once the records since the last snapshot are as long as that, and at least 64 MiB. So a
//! start reads at most twice what is there and 64 MiB, and what is written in all is at most some twice what clients write.

use std::io::{self, ErrorKind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::disk::Disk;
use super::group_log::Saves;
use super::journal::Journal;
use super::{dump, snapshot};
use crate::commands::Databases;

/// Records since the last snapshot that are worth another one at least.
pub(crate) const GROWN_BYTES_MIN: u64 = 64 << 20;
/// After a snapshot that has failed none is taken by itself for so long.
const FAILED_PAUSE: Duration = Duration::from_secs(60);
/// How often it is looked whether the log has grown.
const TICK: Duration = Duration::from_millis(100);

/// What takes snapshots.
#[derive(Debug)]
pub(crate) struct Saver {
    disk: Arc<dyn Disk>,
    state: Mutex<State>,
    changed: Condvar,
}

/// What is told about snapshots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    /// The number of times that somebody has asked, of those that are begun, and of those that are done.
    asked: u64,
    begun: u64,
    pub(crate) done: u64,
    pub(crate) is_saving: bool,
    /// Whether the last one was taken.
    pub(crate) is_ok: bool,
    /// When the last one that was taken was, in seconds since 1970; before that, when the server began.
    pub(crate) saved_at: u64,
    pub(crate) snapshot_bytes: u64,
    /// Bytes of all records when it was taken.
    pub(crate) log_bytes: u64,
    failed_at: Option<Instant>,
    has_ended: bool,
}

/// Copies all databases, and tells up to which entry of the order; `None` if the server is stopped before.
pub(crate) type Copy<'a> = &'a mut (dyn FnMut() -> Option<(u64, Databases)> + Send);

/// Seconds since 1970.
pub(crate) fn seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |it| it.as_secs())
}

impl State {
    /// Where a process begins that goes on with the folder.
    pub(crate) fn after(saves: &Saves) -> Self {
        Self {
            asked: saves.done,
            begun: saves.done,
            done: saves.done,
            is_saving: false,
            is_ok: saves.is_ok,
            saved_at: saves.saved_at,
            snapshot_bytes: saves.snapshot_bytes,
            log_bytes: saves.saved_log_bytes,
            failed_at: None,
            has_ended: false,
        }
    }
}

impl Saver {
    /// Goes on where the folder is.
    pub(crate) fn new(disk: Arc<dyn Disk>, saves: &Saves) -> Self {
        Self {
            disk,
            state: Mutex::new(State::after(saves)),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn state(&self) -> State {
        *self.lock()
    }

    /// Asks for a snapshot of what there is now.
    pub(crate) fn ask(&self) {
        self.lock().asked += 1;
        self.changed.notify_all();
    }

    /// Notes that somebody has asked so many times in all.
    pub(crate) fn ask_until(&self, asked: u64) {
        let mut state = self.lock();
        if state.asked < asked {
            state.asked = asked;
            self.changed.notify_all();
        }
    }

    /// The same, and waits for it; returns whether it was taken.
    pub(crate) fn save(&self) -> bool {
        let mut state = self.lock();
        state.asked += 1;
        let own = state.asked;
        self.changed.notify_all();
        while state.done < own && !state.has_ended {
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.done >= own && state.is_ok
    }

    /// Takes snapshots until it is stopped.
    pub(crate) fn run(&self, journal: &Journal, copy: Copy<'_>, is_stopped: &dyn Fn() -> bool) {
        let _ends = Ends(self);
        while !is_stopped() {
            let log_bytes = journal.bytes();
            let mut state = self.lock();
            let grown = log_bytes - state.log_bytes.min(log_bytes);
            let pauses = state
                .failed_at
                .is_some_and(|it| it.elapsed() < FAILED_PAUSE);
            let is_due = grown >= state.snapshot_bytes.max(GROWN_BYTES_MIN) && !pauses;
            if state.asked == state.begun && !is_due {
                let waited = self.changed.wait_timeout(state, TICK);
                drop(waited.unwrap_or_else(PoisonError::into_inner));
                continue;
            }
            let own = state.asked;
            (state.begun, state.is_saving) = (own, true);
            drop(state);
            let taken = self.take(journal, copy, is_stopped);
            let mut state = self.lock();
            (state.done, state.is_saving, state.is_ok) = (own, false, taken.is_ok());
            match taken {
                Ok(bytes) => {
                    (state.snapshot_bytes, state.log_bytes) = (bytes, log_bytes);
                    (state.saved_at, state.failed_at) = (seconds(), None);
                }
                Err(error) => {
                    state.failed_at = Some(Instant::now());
                    if error.kind() != ErrorKind::Interrupted {
                        let shown = self.disk.shown(snapshot::NEW_SNAPSHOT);
                        eprintln!(
                            "corecast: {shown}: no snapshot was taken: {error}. The log has all there is"
                        );
                    }
                }
            }
            self.changed.notify_all();
        }
    }

    /// Takes a snapshot, and removes what it stands for.
    fn take(
        &self,
        journal: &Journal,
        copy: Copy<'_>,
        is_stopped: &dyn Fn() -> bool,
    ) -> io::Result<u64> {
        let (entry, databases) = copy().ok_or(ErrorKind::Interrupted)?;
        let index = journal.index(entry);
        let bytes = snapshot::write(&self.disk, index, |writer| {
            dump::write(&databases, |chunk| match is_stopped() {
                true => Err(ErrorKind::Interrupted.into()),
                false => writer.chunk(chunk),
            })
        })?;
        snapshot::remove_older(&self.disk, index)?;
        Ok(bytes)
    }
}

/// Says that no snapshots are taken any more.
struct Ends<'a>(&'a Saver);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.lock().has_ended = true;
        self.0.changed.notify_all();
    }
}
