//! What all members of a team share besides their lines: operation histories, parkers, and the first failure.

mod activity;

use crate::call_sites::CallSiteTable;
use crate::failure::{Failure, Loss};
use crate::options::Options;
use crate::record::Record;
use corecast_wire::op_history::{OpHistory, Presence};
use corecast_wire::sync::{Mutex, MutexGuard, mutated, yield_now};
use corecast_wire::{FenceKind, Line, LineRef, Parker, Stop, StopWord, Stopped};
use std::sync::PoisonError;
use std::time::Duration;

/// Shared by the members of one team.
#[derive(Debug)]
pub struct TeamState {
    pub(crate) histories: Vec<LineRef<OpHistory>>,
    pub(crate) parkers: Vec<LineRef<Line<Parker>>>,
    /// Set by the first failure, and by cancellations.
    stopped: LineRef<StopWord>,
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
    /// The ranks of this process.
    pub(crate) own: Vec<usize>,
}

impl CrossProcess {
    /// The failure in the record, for which it waits a while, as another process may be writing it.
    fn told(&self) -> Option<Failure> {
        (0..PATIENCE_FOR_RECORD).find_map(|_| {
            yield_now();
            self.record.read()
        })
    }
}

/// Attempts to read a failure record that another process is writing; together they take a thousand times longer than
/// writing does.
const PATIENCE_FOR_RECORD: u32 = 1000;

impl TeamState {
    pub(crate) fn new(
        histories: Vec<LineRef<OpHistory>>,
        parkers: Vec<LineRef<Line<Parker>>>,
        stopped: LineRef<StopWord>,
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
        self.stopped.get() == Some(Stopped::Failed)
    }

    /// Returns why operation number `seq` must end, if it must.
    #[inline(always)]
    pub(crate) fn stops(&self, rank: usize, seq: u32) -> Result<(), Failure> {
        match self.stopped.look() {
            None => Ok(()),
            Some(stop) => self.stopped_by(stop, rank, seq),
        }
    }

    #[cold]
    fn stopped_by(&self, stop: Stop, rank: usize, seq: u32) -> Result<(), Failure> {
        match stop.meaning() {
            Stopped::Failed => Err(self.told(self.failure_guard())),
            // Sequence numbers wrap around.
            Stopped::From(first)
                if seq.wrapping_sub(first) as i32 >= -i32::from(mutated!(CancelTooEarly)) =>
            {
                Err(Failure::Cancelled { rank })
            }
            Stopped::From(_) => Ok(()),
        }
    }

    #[inline(always)]
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.look().is_some()
    }

    /// Cancels operations from number `seq` on, unless the team has failed, or they were cancelled from an earlier
    /// one on.
    pub(crate) fn cancel(&self, seq: u32) {
        if self.stopped.look().is_some() && mutated!(SecondCancelIgnored) {
            return;
        }
        self.stopped.cancel_from(seq);
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
        let kept = self.failure_guard();
        match kept.is_some() || self.has_failed() {
            true => Some(self.told(kept)),
            false => None,
        }
    }

    /// The first failure, which the stop word tells of: another process may have changed that word since, so it does not
    /// count any more.
    fn told(&self, mut kept: MutexGuard<'_, Option<Failure>>) -> Failure {
        let read = || {
            let told = self.between.as_ref().and_then(CrossProcess::told);
            told.unwrap_or_else(|| self.unreadable())
        };
        kept.get_or_insert_with(read).clone()
    }

    /// The failure where the record cannot be read: its writer has died while it wrote, and whoever set the stop word
    /// had marked it as lost before, or the record is corrupt.
    fn unreadable(&self) -> Failure {
        let mut ranks = 0..self.histories.len();
        let local = ranks.clone().find(|&rank| self.loss(rank).is_none());
        let local = self.activity(local.unwrap_or(0));
        match ranks.find(|&rank| self.loss(rank) == Some(Loss::Died)) {
            Some(rank) => Failure::PeerLost {
                local,
                remote: self.activity(rank),
                how: Loss::Died,
            },
            None => Failure::Corrupt {
                remote: local.clone(),
                local,
            },
        }
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
                if kept.is_none() {
                    *kept = Some(match &self.between {
                        // A thread of another process was first. If it died while it wrote, nobody can read what.
                        Some(_) if mutated!(RecordUnwritten) => failure,
                        Some(between) if !between.record.write(&failure) => {
                            match mutated!(SecondFailureKept) {
                                false => between.told().unwrap_or(failure),
                                true => failure,
                            }
                        }
                        _ => failure,
                    });
                }
                self.stopped.fail();
                kept.clone().expect("was just set")
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
        let presence = if panicked && !mutated!(PanicUntold) {
            Presence::Panicked
        } else {
            Presence::Left
        };
        self.end_with(rank, presence);
    }

    /// Marks a member as having come to the end of a run, and wakes all members, as for one that leaves.
    pub(crate) fn rest(&self, rank: usize) {
        self.end_with(rank, Presence::Resting);
    }

    fn end_with(&self, rank: usize, presence: Presence) {
        self.histories[rank].set_presence(presence, None);
        self.wake_all();
    }

    /// A rank of this process that has come to the end of a run without operation number `seq`, in which a rank of the
    /// run is: it comes again only after that. `None` in a team of one process, where whoever waits for it sees that.
    pub(crate) fn own_that_rests_before(&self, seq: u32) -> Option<usize> {
        if mutated!(RestChainUnseen) {
            return None;
        }
        let mut own = self.between.as_ref()?.own.iter().copied();
        own.find(|&rank| {
            let history = &self.histories[rank];
            history.presence() == Presence::Resting
                && (history.now().seq.wrapping_sub(seq) as i32) < 0
        })
    }

    /// Whether a rank belongs to this process.
    pub(crate) fn is_own(&self, rank: usize) -> bool {
        self.between
            .as_ref()
            .is_none_or(|between| between.own.contains(&rank))
    }

    /// How the member of a rank was lost; `None` unless it was.
    pub(crate) fn loss(&self, rank: usize) -> Option<Loss> {
        match self.histories[rank].presence() {
            Presence::Panicked => Some(Loss::Panicked),
            Presence::Died => Some(Loss::Died),
            Presence::Absent | Presence::Present | Presence::Left | Presence::Resting => None,
        }
    }

    /// Whether a rank has a member at this moment.
    pub(crate) fn is_joined(&self, rank: usize) -> bool {
        self.histories[rank].presence() == Presence::Present
    }

    /// Marks `ranks`, whose process has ended, as lost. The team fails unless all of them had left before.
    pub fn lost(&self, ranks: &[usize], noticed_by: usize) {
        if mutated!(DeathUnheard) {
            return;
        }
        for &rank in ranks {
            let history = &self.histories[rank];
            if matches!(
                history.presence(),
                Presence::Absent | Presence::Present | Presence::Resting
            ) {
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

#[cfg(test)]
mod tests;
