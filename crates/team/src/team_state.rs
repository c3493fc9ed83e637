//! What all members of a team share besides their lines: operation histories, parkers, and the first failure.

use crate::call_sites::CallSiteTable;
use crate::failure::{Failure, Loss, RankActivity, Site};
use crate::operation::{OpFingerprint, Operation};
use crate::options::Options;
use crate::record::Record;
use corecast_wire::op_history::{HISTORY_LEN, OpHistory, Presence};
use corecast_wire::wait::Watch;
use corecast_wire::{FenceKind, Flag, Line, LineRef, Parker};
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    patience: Option<Duration>,
    join_limit: Duration,
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

    /// The call site behind a word in the operation history of `rank`.
    fn site(&self, rank: usize, word: u64) -> Option<Site> {
        let text = self.between.as_ref()?.site_tables[rank].read(word)?;
        Some(Site::Remote(Arc::from(text)))
    }

    fn page(&self, rank: usize, seq: u32) -> Option<(Operation, Option<Site>)> {
        let history = &self.histories[rank];
        let (entry, word) = history.entry_at(seq)?;
        let local = history.read_at(seq).filter(|(again, _)| *again == entry);
        let site = local.map(|(_, site)| Site::Local(site));
        Some((
            Operation::of_entry(entry)?,
            site.or_else(|| self.site(rank, word)),
        ))
    }

    /// The operation that `rank` is in, or was in last.
    pub(crate) fn activity(&self, rank: usize) -> RankActivity {
        let now = self.histories[rank].now();
        let page = self.page(rank, now.seq);
        RankActivity {
            rank,
            operation: Operation::of_entry(now),
            site: page.and_then(|(_, site)| site),
        }
    }

    /// Operation number `seq` of `rank`; its current one if the history no longer has that.
    fn activity_at(&self, rank: usize, seq: u32) -> RankActivity {
        match self.page(rank, seq) {
            Some((operation, site)) => RankActivity {
                rank,
                operation: Some(operation),
                site,
            },
            None => self.activity(rank),
        }
    }

    /// The failure of two of `ranks` whose operations differ, if there are two such ranks.
    pub(crate) fn last_difference(
        &self,
        ranks: &[usize],
        fingerprints: &[OpFingerprint],
    ) -> Option<Failure> {
        let other = ranks[fingerprints
            .iter()
            .position(|fingerprint| *fingerprint != fingerprints[0])?];
        let seq = self.activity(ranks[0]).operation?.seq;
        let (local, remote) = self
            .first_difference((ranks[0], other), seq)
            .unwrap_or_else(|| (self.activity(ranks[0]), self.activity_at(other, seq)));
        Some(Failure::Mismatch { local, remote })
    }

    /// The first operation up to number `seq` in which the two ranks differ, as far as their histories reach
    /// back.
    fn first_difference(
        &self,
        (a, b): (usize, usize),
        seq: u32,
    ) -> Option<(RankActivity, RankActivity)> {
        let oldest = seq.saturating_sub(HISTORY_LEN as u32);
        (oldest..=seq).find_map(|seq| {
            let [Some((mine, _)), Some((theirs, _))] =
                [a, b].map(|rank| self.histories[rank].entry_at(seq))
            else {
                return None;
            };
            (mine != theirs).then(|| (self.activity_at(a, seq), self.activity_at(b, seq)))
        })
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

/// Checks, while a member waits for a peer, whether the peer can still arrive.
///
/// A peer that is in the same operation, or behind, can arrive. **Invariant:** in every algorithm a member has
/// sent all of an operation's messages before it enters the next one *of the same operation context*; so a peer
/// that is ahead there, or has left, has sent all that it will ever send, and one more look decides.
pub(crate) struct PeerWatch<'a> {
    pub(crate) state: &'a TeamState,
    /// The operation histories of the operation context, if it is not the first.
    pub(crate) context_histories: Option<&'a [LineRef<OpHistory>]>,
    pub(crate) rank: usize,
    pub(crate) operation: Operation,
    pub(crate) site: &'static Location<'static>,
    pub(crate) peer: usize,
}

impl PeerWatch<'_> {
    fn local(&self) -> RankActivity {
        RankActivity {
            rank: self.rank,
            operation: Some(self.operation),
            site: Some(Site::Local(self.site)),
        }
    }

    /// The failure of a peer whose operations are not the same as this rank's.
    pub(crate) fn mismatch(&self) -> Failure {
        self.mismatch_with(self.operation.seq)
    }

    /// The failure, if the histories show an operation in which the two ranks differ.
    pub(crate) fn difference(&self) -> Option<Failure> {
        let ranks = (self.rank, self.peer);
        let (local, remote) = self.state.first_difference(ranks, self.operation.seq)?;
        Some(Failure::Mismatch { local, remote })
    }

    /// Whether the peer is in this very operation.
    pub(crate) fn is_there(&self) -> bool {
        let history = match self.context_histories {
            None => &self.state.histories[self.peer],
            Some(context) => &context[self.peer],
        };
        history.now() == self.operation.entry()
    }

    /// The mismatch with the peer, of which operation number `seq` does not fit.
    pub(crate) fn mismatch_with(&self, seq: u32) -> Failure {
        let (local, remote) = self
            .state
            .first_difference((self.rank, self.peer), self.operation.seq)
            .unwrap_or_else(|| (self.local(), self.state.activity_at(self.peer, seq)));
        Failure::Mismatch { local, remote }
    }

    pub(crate) fn length(&self, sent: usize, expected: usize) -> Failure {
        let remote = self.state.activity_at(self.peer, self.operation.seq);
        let local = self.local();
        Failure::Length {
            local,
            remote,
            sent,
            expected,
        }
    }

    /// The failure of a peer whose memory holds values that no member writes.
    pub(crate) fn corrupt(&self) -> Failure {
        let remote = self.state.activity_at(self.peer, self.operation.seq);
        Failure::Corrupt {
            local: self.local(),
            remote,
        }
    }

    /// Whether the peer does, or has done, something else than this operation.
    fn differs(&self) -> bool {
        let entry = self.operation.entry();
        let main = &self.state.histories[self.peer];
        let now = match self.context_histories {
            None => main.now(),
            Some(context) => {
                // The peer's other operation contexts may be far ahead, or behind: only this operation counts.
                let page = main.entry_at(entry.seq);
                if page.is_some_and(|(theirs, _)| theirs != entry) {
                    return true;
                }
                context[self.peer].now()
            }
        };
        let ahead = now.seq.wrapping_sub(entry.seq) as i32;
        ahead > 0 || (ahead == 0 && now != entry)
    }
}

impl PeerWatch<'_> {
    /// The failure that follows from the peer's state: it has left, differs, or takes longer than a limit.
    fn verdict(&self, slept: Duration) -> Result<(), Failure> {
        let lost = |how| Failure::PeerLost {
            local: self.local(),
            remote: self.state.activity(self.peer),
            how,
        };
        let waited = slept;
        match self.state.histories[self.peer].presence() {
            Presence::Left => return Err(lost(Loss::Left)),
            Presence::Panicked => return Err(lost(Loss::Panicked)),
            Presence::Died => return Err(lost(Loss::Died)),
            Presence::Absent if slept >= self.state.join_limit => {
                return Err(Failure::NeverJoined {
                    local: self.local(),
                    missing: self.peer,
                    waited,
                });
            }
            Presence::Absent | Presence::Present => {}
        }
        if self.differs() {
            return Err(self.mismatch());
        }
        if self
            .state
            .patience
            .is_some_and(|patience| slept >= patience)
        {
            return Err(Failure::Stalled {
                local: self.local(),
                remote: self.state.activity(self.peer),
                waited,
            });
        }
        Ok(())
    }
}

impl Watch for PeerWatch<'_> {
    type Error = Failure;

    fn check(&mut self, slept: Duration) -> Result<(), Failure> {
        let stops = || self.state.stops(self.rank, self.operation.seq);
        stops()?;
        // If the team has stopped meanwhile, that is why the peer went on or left, and it is reported first.
        self.verdict(slept)
            .or_else(|failure| stops().and(Err(failure)))
    }
}
