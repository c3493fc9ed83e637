//! What all members of a team share besides their lines: operation histories, parkers, and the first failure.

mod activity;

use crate::call_sites::CallSiteTable;
use crate::failure::{Failure, Loss};
use crate::options::Options;
use crate::record::Record;
use corecast_wire::op_history::{OpHistory, Presence};
use corecast_wire::{FenceKind, Flag, Line, LineRef, Parker};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Shared by the members of one team.
#[derive(Debug)]
pub struct TeamState {
    pub(crate) histories: Vec<LineRef<OpHistory>>,
    pub(crate) parkers: Vec<LineRef<Line<Parker>>>,
    /// [`FAILED`] after the first failure; [`CANCELLED`] and the number of the first operation that is
    /// cancelled.
    stopped: LineRef<Flag>,
    failure: Mutex<Option<Failure>>,
    fence: FenceKind,
    pub(crate) patience: Option<Duration>,
    pub(crate) join_limit: Duration,
    /// Call sites and the first failure for other processes; `None` if all ranks are in one process.
    between: Option<CrossProcess>,
}

/// What ranks of different processes read of each other.
#[derive(Debug)]
pub(crate) struct CrossProcess {
    /// Each rank's call sites, as text.
    pub(crate) site_tables: Vec<CallSiteTable>,
    /// The first failure.
    pub(crate) record: Record,
}

/// The value of [`TeamState::stopped`] after a failure: all operations end.
const FAILED: u64 = 1;
/// Flag bit: operations from sequence number n on are cancelled. The low bits hold n.
const CANCELLED: u64 = 1 << 32;

/// Attempts to read a failure record that another process is writing; together they take a thousand times longer than
/// writing does.
const PATIENCE_FOR_RECORD: u32 = 1000;

impl TeamState {
    pub(crate) fn new(
        histories: Vec<LineRef<OpHistory>>,
        parkers: Vec<LineRef<Line<Parker>>>,
        stopped: LineRef<Flag>,
        fence: FenceKind,
        options: &Options,
        between: Option<CrossProcess>,
    ) -> Self {
        Self {
            histories,
            parkers,
            stopped,
            failure: Mutex::new(None),
            fence,
            patience: options.patience,
            join_limit: options.join_limit,
            between,
        }
    }

    fn has_failed(&self) -> bool {
        self.stopped.seq() == FAILED
    }

    /// Returns why operation number `seq` must end, if it must.
    #[inline(always)]
    pub(crate) fn stops(&self, rank: usize, seq: u32) -> Result<(), Failure> {
        match self.stopped.seq() {
            0 => Ok(()),
            word => self.stopped_by(word, rank, seq),
        }
    }

    #[cold]
    fn stopped_by(&self, word: u64, rank: usize, seq: u32) -> Result<(), Failure> {
        if word == FAILED {
            return Err(self.failure().expect("the failure comes before the flag"));
        }
        // Sequence numbers wrap around.
        let ahead = seq.wrapping_sub(word as u32) as i32;
        if ahead >= 0 {
            return Err(Failure::Cancelled { rank });
        }
        Ok(())
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.seq() != 0
    }

    /// Cancels operations from number `seq` on, unless the team has failed or been cancelled before.
    pub(crate) fn cancel(&self, seq: u32) {
        let kept = self.failure_guard();
        if kept.is_none() && self.stopped.seq() == 0 {
            self.stopped.raise(CANCELLED | u64::from(seq));
        }
        drop(kept);
        self.wake_all();
    }

    /// The call-site table of a rank, in a team of several processes.
    pub(crate) fn site_table(&self, rank: usize) -> Option<&CallSiteTable> {
        Some(&self.between.as_ref()?.site_tables[rank])
    }

    pub(crate) fn fence(&self) -> FenceKind {
        self.fence
    }

    fn failure_guard(&self) -> MutexGuard<'_, Option<Failure>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        let mut kept = self.failure_guard();
        if kept.is_none() && self.has_failed() {
            let told = self.between.as_ref().and_then(|between| {
                // The process that raised the flag may have failed second while the first still writes its
                // record.
                (0..PATIENCE_FOR_RECORD).find_map(|_| {
                    std::thread::yield_now();
                    between.record.read()
                })
            });
            // A record that cannot be read is corrupt, or its writer has died while it wrote.
            *kept = Some(told.unwrap_or_else(|| Failure::Corrupt {
                local: self.activity(0),
                remote: self.activity(0),
            }));
        }
        kept.clone()
    }

    /// Keeps the failure if it is the first, wakes all members, and returns the first failure.
    #[cold]
    pub(crate) fn fail(&self, failure: Failure) -> Failure {
        if matches!(failure, Failure::Cancelled { .. }) {
            // The team has not failed: earlier operations complete.
            return failure;
        }
        let first = match self.failure() {
            Some(first) => first,
            None => {
                let mut kept = self.failure_guard();
                let first = kept.get_or_insert(failure).clone();
                if let Some(between) = &self.between {
                    between.record.write(&first);
                }
                self.stopped.raise(FAILED);
                first
            }
        };
        self.wake_all();
        first
    }

    pub(crate) fn wake_all(&self) {
        for parker in &self.parkers {
            parker.wake_any(self.fence);
        }
    }

    /// Marks a member as having left, and wakes all members so that those that wait for it notice.
    pub(crate) fn leave(&self, rank: usize, panicked: bool) {
        let presence = if panicked {
            Presence::Panicked
        } else {
            Presence::Left
        };
        self.histories[rank].set_presence(presence, None);
        self.wake_all();
    }

    /// Marks `ranks`, whose process has ended, as lost. The team fails unless all of them had left before.
    pub fn lost(&self, ranks: &[usize], noticed_by: usize) {
        for &rank in ranks {
            let history = &self.histories[rank];
            if matches!(history.presence(), Presence::Absent | Presence::Present) {
                history.set_presence(Presence::Died, None);
                self.fail(Failure::PeerLost {
                    local: self.activity(noticed_by),
                    remote: self.activity(rank),
                    how: Loss::Died,
                });
            }
        }
    }
}
